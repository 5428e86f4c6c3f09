//! The subscribers to rooms, scrolls, findings and the graph, for stateful and stateless protocol
//! versions.
//!
//! The content that a subscriber would read now is compared with the content that it
//! would have read before. So it is notified of every change to it, and of nothing
//! else, whether a person, another server or a tool of this one made the change.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{RequestId, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};
use ulid::Ulid;

use crate::mcp::Toolbox;
use crate::mcp::resource_target::{ResourceTarget, action_tools_for, parse_target};
use palazzo_keeper::{self as keeper, Caller, ChangeCounters, Keeper};

/// Maximum number of resources per subscriber.
const MAX_SUBSCRIPTIONS: usize = 1_000;
/// The digest of a resource whose content is not known yet.
const UNKNOWN_DIGEST: u64 = u64::MAX;

/// All subscribers, and what they subscribe to.
#[derive(Default)]
pub(super) struct Subscribers {
    subscriptions: Vec<Subscription>,
    /// The clients with a handshake that have asked for something that can change, by the id of
    /// their session.
    sessions: BTreeMap<Ulid, Peer<RoleServer>>,
    listeners: Vec<(ListenerId, SubscriptionSink)>,
    baselines: BaselineDigests,
    /// The open palaces when notifications were last collected; `None` until a client
    /// first asks for something that can change.
    generations: Option<BTreeMap<String, ChangeCounters>>,
}

/// The digests of resources when a subscription to them was accepted. Changes count
/// from then on, not only from when the client listens.
#[derive(Clone, Default)]
pub(super) struct BaselineDigests(Arc<Mutex<BTreeMap<String, u64>>>);

/// A resource and its subscriber.
struct Subscription {
    uri: String,
    target: ResourceTarget,
    subscriber: Subscriber,
    digest: u64,
    is_new: bool,
}

/// The subscriber to a resource.
#[derive(Clone, PartialEq)]
enum Subscriber {
    /// A client with a handshake, by the id of its session.
    Session(Ulid),
    /// A client that listens.
    Listener(ListenerId),
}

/// A client that listens: the id of its session, and of its request.
type ListenerId = (Ulid, RequestId);

/// The notifications to send.
#[derive(Default)]
pub(super) struct Notifications {
    list_changed: bool,
    sessions: BTreeMap<Ulid, Peer<RoleServer>>,
    listeners: Vec<(ListenerId, SubscriptionSink)>,
    updated_resources: Vec<(Subscriber, String)>,
}

impl BaselineDigests {
    /// Stores the digests of `followed`, and returns the generations in `current`. If
    /// `current` is `None`, because a call is running, the first comparison finds a
    /// difference.
    pub(super) fn store_digests(
        &self,
        followed: &[(String, ResourceTarget)],
        current: Option<(Vec<u64>, BTreeMap<String, ChangeCounters>)>,
    ) -> Option<BTreeMap<String, ChangeCounters>> {
        let (digests, generations) = current.unzip();
        let digests = digests.unwrap_or_else(|| vec![UNKNOWN_DIGEST; followed.len()]);
        let uris = followed.iter().map(|(uri, _)| uri.clone());
        self.lock_digests().extend(uris.zip(digests));
        generations
    }

    fn take_digest(&self, uri: &str) -> Option<u64> {
        self.lock_digests().remove(uri)
    }

    fn lock_digests(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscribers {
    /// Starts without subscribers; `baselines` are used when a client listens.
    pub(super) fn new(baselines: BaselineDigests) -> Self {
        Self { baselines, ..Self::default() }
    }

    /// Sends notifications to the client of a session from now on, if it has completed the
    /// handshake.
    pub(super) fn add_session(&mut self, session: Ulid, peer: Option<&Peer<RoleServer>>) {
        self.sessions.extend(peer.map(|it| (session, it.clone())));
    }

    /// Subscribes the client of a session to `uri`; the error is the reason for a refusal.
    pub(super) fn subscribe(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        session: Ulid,
        uri: &str,
        target: ResourceTarget,
    ) -> Result<(), String> {
        self.unsubscribe(session, uri);
        let is_same_client = |it: &&Subscription| it.subscriber == Subscriber::Session(session);
        if self.subscriptions.iter().filter(is_same_client).count() >= MAX_SUBSCRIPTIONS {
            return Err(format!(
                "a client can follow at most {MAX_SUBSCRIPTIONS} resources: unsubscribe from one"
            ));
        }
        let digest = self.first_digest(tools, keeper, uri, &target);
        self.add_subscription(uri, target, Subscriber::Session(session), digest);
        self.record_new_change_counters(keeper.change_counters_by_palace());
        Ok(())
    }

    /// Removes a subscription of the client of a session.
    pub(super) fn unsubscribe(&mut self, session: Ulid, uri: &str) {
        self.subscriptions
            .retain(|it| it.subscriber != Subscriber::Session(session) || it.uri != uri);
    }

    /// Adds a listener with the resources that were accepted for it.
    pub(super) fn add_listener(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        caller: &Caller,
        sink: &SubscriptionSink,
    ) {
        // If the keeper was busy at acceptance, there are no generations to compare
        // with yet.
        if self.generations.is_none() {
            self.record_new_change_counters(keeper.change_counters_by_palace());
        }
        let id = (caller.visit_id, sink.id().clone());
        self.listeners.push((id.clone(), sink.clone()));
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            let Ok(target) = parse_target(tools, caller, uri) else { continue };
            let target = resolve_target_workspace(keeper, target);
            let digest = self.first_digest(tools, keeper, uri, &target);
            self.add_subscription(uri, target, Subscriber::Listener(id.clone()), digest);
        }
    }

    /// Removes a listener and its subscriptions.
    pub(super) fn remove_listener(&mut self, session: Ulid, sink: &SubscriptionSink) {
        let id = (session, sink.id().clone());
        self.listeners.retain(|(it, _)| *it != id);
        self.subscriptions.retain(|it| it.subscriber != Subscriber::Listener(id.clone()));
    }

    /// Records the generations of open palaces that are not recorded yet: the client
    /// has just seen them.
    pub(super) fn record_new_change_counters(&mut self, open: BTreeMap<String, ChangeCounters>) {
        let generations = self.generations.get_or_insert_default();
        for (key, generation) in open {
            generations.entry(key).or_insert(generation);
        }
    }

    /// Returns true if nobody receives notifications. Removes the clients that are gone.
    pub(super) fn are_none(&mut self) -> bool {
        self.sessions.retain(|_, peer| !peer.is_transport_closed());
        let sessions = &self.sessions;
        self.subscriptions.retain(|it| match &it.subscriber {
            Subscriber::Session(id) => sessions.contains_key(id),
            Subscriber::Listener(_) => true,
        });
        self.sessions.is_empty() && self.listeners.is_empty()
    }

    /// Collects the changes since the last call.
    pub(super) fn collect_notifications(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
    ) -> Notifications {
        let Some(generations) = &mut self.generations else { return Notifications::default() };
        let before = std::mem::replace(generations, keeper.change_counters_by_palace());
        let mut notifications = Notifications {
            list_changed: title_hashes(&before) != title_hashes(generations),
            ..Notifications::default()
        };
        for subscription in &mut self.subscriptions {
            let is_new = std::mem::take(&mut subscription.is_new);
            let may_have_changed = match &subscription.target {
                ResourceTarget::InPalace(it) => {
                    before.get(&it.workspace) != generations.get(&it.workspace)
                }
                // Its digest is cheap, and the caller may have chosen another
                // workspace.
                ResourceTarget::Graph(_) | ResourceTarget::MapApp(_) => true,
            };
            if !is_new && !may_have_changed {
                continue;
            }
            let digest = target_digest(tools, keeper, &subscription.target);
            if std::mem::replace(&mut subscription.digest, digest) != digest {
                notifications
                    .updated_resources
                    .push((subscription.subscriber.clone(), subscription.uri.clone()));
            }
        }
        notifications.listeners.clone_from(&self.listeners);
        notifications.sessions.clone_from(&self.sessions);
        notifications
    }

    /// Returns the digest of a resource when its subscription was accepted.
    fn first_digest(
        &self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        uri: &str,
        target: &ResourceTarget,
    ) -> u64 {
        let baseline = self.baselines.take_digest(uri);
        baseline.unwrap_or_else(|| target_digest(tools, keeper, target))
    }

    fn add_subscription(
        &mut self,
        uri: &str,
        target: ResourceTarget,
        subscriber: Subscriber,
        digest: u64,
    ) {
        let (uri, is_new) = (uri.to_owned(), true);
        self.subscriptions.push(Subscription { uri, target, subscriber, digest, is_new });
    }
}

impl Notifications {
    /// Sends the notifications. Errors are ignored: such a client is gone.
    pub(super) async fn send(self) {
        if self.list_changed {
            for peer in self.sessions.values() {
                peer.notify_resource_list_changed().await.unwrap_or_default();
            }
            for (_, sink) in &self.listeners {
                if sink.accepted().resources_list_changed == Some(true) {
                    sink.notify_resource_list_changed().await.unwrap_or_default();
                }
            }
        }
        for (subscriber, uri) in self.updated_resources {
            match subscriber {
                Subscriber::Session(id) => {
                    if let Some(peer) = self.sessions.get(&id) {
                        let update = ResourceUpdatedNotificationParam::new(uri);
                        peer.notify_resource_updated(update).await.unwrap_or_default();
                    }
                }
                Subscriber::Listener(id) => {
                    if let Some((_, sink)) = self.listeners.iter().find(|(it, _)| *it == id) {
                        sink.notify_resource_updated(uri).await.unwrap_or_default();
                    }
                }
            }
        }
    }
}

/// Returns the resources of a requested filter that can be followed.
pub(super) fn accepted_targets(
    tools: &Toolbox,
    caller: &Caller,
    requested: &SubscriptionFilter,
) -> Vec<(String, ResourceTarget)> {
    let uris = requested.resource_subscriptions.iter().flatten();
    let followed =
        uris.filter_map(|uri| Some((uri.clone(), parse_target(tools, caller, uri).ok()?)));
    followed.take(MAX_SUBSCRIPTIONS).collect()
}

/// Returns a digest of each resource's content.
pub(super) fn target_digests(
    tools: &Toolbox,
    keeper: &mut Keeper,
    followed: &[(String, ResourceTarget)],
) -> Vec<u64> {
    let digests = followed.iter().map(|(_, target)| {
        let target = resolve_target_workspace(keeper, target.clone());
        target_digest(tools, keeper, &target)
    });
    digests.collect()
}

/// Returns the part of a requested filter that is accepted: its resources are
/// `followed`.
pub(super) fn accepted_filter(
    requested: &SubscriptionFilter,
    followed: &[(String, ResourceTarget)],
) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    let uris = followed.iter().map(|(uri, _)| uri.clone());
    accepted.resource_subscriptions = Some(uris.collect());
    accepted
}

/// Lists by palace a hash of the titles of its rooms and scrolls. Palaces without any
/// are left out: they add nothing to the list of resources.
fn title_hashes(generations: &BTreeMap<String, ChangeCounters>) -> Vec<(&String, u64)> {
    let titles = generations.iter().map(|(key, it)| (key, it.titles));
    titles.filter(|(_, titles)| *titles > 0).collect()
}

/// Resolves the palace of an address; keeps the address if it does not exist yet.
fn resolve_target_workspace(keeper: &mut Keeper, target: ResourceTarget) -> ResourceTarget {
    match target {
        ResourceTarget::InPalace(address) => {
            ResourceTarget::InPalace(keeper::resolve_uri(keeper, &address).unwrap_or(address))
        }
        other => other,
    }
}

/// Returns a digest of the content that a client would read.
fn target_digest(tools: &Toolbox, keeper: &mut Keeper, target: &ResourceTarget) -> u64 {
    match target {
        ResourceTarget::InPalace(address) => {
            let mut hasher = DefaultHasher::new();
            let tools = action_tools_for(tools, address);
            keeper::render_resource(keeper, address, &tools).map_err(|_| ()).hash(&mut hasher);
            hasher.finish()
        }
        ResourceTarget::Graph(caller) => keeper::graph_digest(keeper, caller).unwrap_or_default(),
        // A view reads its map again by itself.
        ResourceTarget::MapApp(_) => 0,
    }
}
