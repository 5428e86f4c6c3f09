//! Who wants to be told when a room, a scroll or the graph has changed, in both
//! eras.
//!
//! What a subscriber would read is compared with what it would have read
//! before, so that it hears of every change to it and of nothing else, whoever
//! made the change: a person, another server, or a tool of this one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{RequestId, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};

use crate::keeper::{self, Caller, Generation, Keeper};
use crate::mcp::Toolbox;
use crate::mcp::resources::{ResourceTarget, parse_target};

/// How many resources one subscriber can follow.
const MAX_SUBSCRIPTIONS: usize = 1_000;
/// The digest of what nobody has looked at.
const UNKNOWN_DIGEST: u64 = u64::MAX;

/// Everybody who wants to be told.
#[derive(Default)]
pub(super) struct Subscribers {
    subscriptions: Vec<Subscription>,
    listeners: Vec<SubscriptionSink>,
    baselines: BaselineDigests,
    /// What was open when news were last gathered; `None`: nobody has asked yet
    /// for anything that can change.
    generations: Option<BTreeMap<String, Generation>>,
}

/// What those who begin to listen have been promised to be told of: from the promise
/// on everything counts, not only from when they listen.
#[derive(Clone, Default)]
pub(super) struct BaselineDigests(Arc<Mutex<BTreeMap<String, u64>>>);

/// One resource, and who follows it.
struct Subscription {
    uri: String,
    target: ResourceTarget,
    subscriber: Subscriber,
    digest: u64,
    is_new: bool,
}

/// Who follows a resource.
#[derive(Clone, PartialEq)]
enum Subscriber {
    /// The client that has shaken hands.
    InitializedClient,
    /// A client that listens, by the request it listens with.
    Listener(RequestId),
}

/// What is to be told.
#[derive(Default)]
pub(super) struct Notifications {
    list_changed: bool,
    listeners: Vec<SubscriptionSink>,
    updated_resources: Vec<(Subscriber, String)>,
}

impl BaselineDigests {
    /// Keeps what is `followed`, and returns the editions that are known with them. Where nothing is
    /// `known`, for a call is under way, the first look will find a difference.
    pub(super) fn record(
        &self,
        followed: &[(String, ResourceTarget)],
        known: Option<(Vec<u64>, BTreeMap<String, Generation>)>,
    ) -> Option<BTreeMap<String, Generation>> {
        let (digests, editions) = known.unzip();
        let digests = digests.unwrap_or_else(|| vec![UNKNOWN_DIGEST; followed.len()]);
        let uris = followed.iter().map(|(uri, _)| uri.clone());
        self.lock_digests().extend(uris.zip(digests));
        editions
    }

    fn take(&self, uri: &str) -> Option<u64> {
        self.lock_digests().remove(uri)
    }

    fn lock_digests(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscribers {
    /// Begins with nobody; `promises` are kept when somebody listens.
    pub(super) fn new(promises: BaselineDigests) -> Self {
        Self { baselines: promises, ..Self::default() }
    }

    /// Lets the client that has shaken hands follow what it calls `uri`; the
    /// error says why it cannot.
    pub(super) fn subscribe(
        &mut self,
        keeper: &mut Keeper,
        uri: &str,
        subject: ResourceTarget,
    ) -> Result<(), String> {
        self.unsubscribe(uri);
        let greeted = |it: &&Subscription| it.subscriber == Subscriber::InitializedClient;
        if self.subscriptions.iter().filter(greeted).count() >= MAX_SUBSCRIPTIONS {
            return Err(format!(
                "more than {MAX_SUBSCRIPTIONS} resources cannot be followed at once"
            ));
        }
        self.add_subscription(keeper, uri, subject, Subscriber::InitializedClient);
        self.record_generations(keeper.generations());
        Ok(())
    }

    /// Ends that.
    pub(super) fn unsubscribe(&mut self, uri: &str) {
        self.subscriptions
            .retain(|it| it.subscriber != Subscriber::InitializedClient || it.uri != uri);
    }

    /// Lets a client listen to what it was promised.
    pub(super) fn add_listener(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        by: &Caller,
        sink: &SubscriptionSink,
    ) {
        // The promise was made without the keeper if that was busy; nothing would ever be told.
        if self.generations.is_none() {
            self.record_generations(keeper.generations());
        }
        self.listeners.push(sink.clone());
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            let Ok(subject) = parse_target(tools, by, uri) else { continue };
            let subject = locate_target(keeper, subject);
            self.add_subscription(keeper, uri, subject, Subscriber::Listener(sink.id().clone()));
        }
    }

    /// Ends that.
    pub(super) fn remove_listener(&mut self, sink: &SubscriptionSink) {
        self.listeners.retain(|it| it.id() != sink.id());
        self.subscriptions.retain(|it| it.subscriber != Subscriber::Listener(sink.id().clone()));
    }

    /// Takes note of what is open: a client that asks for it knows.
    pub(super) fn record_generations(&mut self, open: BTreeMap<String, Generation>) {
        let editions = self.generations.get_or_insert_default();
        for (key, edition) in open {
            editions.entry(key).or_insert(edition);
        }
    }

    /// Tells whether nobody listens who has not shaken hands.
    pub(super) fn has_no_listeners(&self) -> bool {
        self.listeners.is_empty()
    }

    /// Finds out what is to be told since the last time.
    pub(super) fn collect_notifications(&mut self, keeper: &mut Keeper) -> Notifications {
        let Some(editions) = &mut self.generations else { return Notifications::default() };
        let before = std::mem::replace(editions, keeper.generations());
        let mut news = Notifications {
            list_changed: title_hashes(&before) != title_hashes(editions),
            ..Notifications::default()
        };
        for subscription in &mut self.subscriptions {
            let is_new = std::mem::take(&mut subscription.is_new);
            let may_have_changed = match &subscription.target {
                ResourceTarget::RoomOrScroll(it) => {
                    before.get(&it.workspace) != editions.get(&it.workspace)
                }
                // Its digest is at hand, and the caller may have gone elsewhere.
                ResourceTarget::Graph(_) => true,
            };
            if !is_new && !may_have_changed {
                continue;
            }
            let digest = target_digest(keeper, &subscription.target);
            if std::mem::replace(&mut subscription.digest, digest) != digest {
                news.updated_resources
                    .push((subscription.subscriber.clone(), subscription.uri.clone()));
            }
        }
        news.listeners.clone_from(&self.listeners);
        news
    }

    fn add_subscription(
        &mut self,
        keeper: &mut Keeper,
        uri: &str,
        subject: ResourceTarget,
        by: Subscriber,
    ) {
        let promised = self.baselines.take(uri);
        let digest = promised.unwrap_or_else(|| target_digest(keeper, &subject));
        let (uri, is_new) = (uri.to_owned(), true);
        self.subscriptions.push(Subscription {
            uri,
            target: subject,
            subscriber: by,
            digest,
            is_new,
        });
    }
}

impl Notifications {
    /// Tells it: to `greeted`, if a client has shaken hands, and to all who
    /// listen. Whoever cannot be told has gone.
    pub(super) async fn send(self, greeted: Option<&Peer<RoleServer>>) {
        if let (true, Some(peer)) = (self.list_changed, greeted) {
            peer.notify_resource_list_changed().await.unwrap_or_default();
        }
        for sink in self.listeners.iter().filter(|_| self.list_changed) {
            if sink.accepted().resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await.unwrap_or_default();
            }
        }
        for (follower, uri) in self.updated_resources {
            match (follower, greeted) {
                (Subscriber::InitializedClient, Some(peer)) => {
                    let update = ResourceUpdatedNotificationParam::new(uri);
                    peer.notify_resource_updated(update).await.unwrap_or_default();
                }
                (Subscriber::InitializedClient, None) => {}
                (Subscriber::Listener(id), _) => {
                    if let Some(sink) = self.listeners.iter().find(|it| *it.id() == id) {
                        sink.notify_resource_updated(uri).await.unwrap_or_default();
                    }
                }
            }
        }
    }
}

/// Returns the resources of a wish to listen that can be followed.
pub(super) fn accepted_targets(
    tools: &Toolbox,
    by: &Caller,
    wish: &SubscriptionFilter,
) -> Vec<(String, ResourceTarget)> {
    let uris = wish.resource_subscriptions.iter().flatten();
    let followed = uris.filter_map(|uri| Some((uri.clone(), parse_target(tools, by, uri).ok()?)));
    followed.take(MAX_SUBSCRIPTIONS).collect()
}

/// Returns for each of them a number that tells when it has changed.
pub(super) fn target_digests(
    keeper: &mut Keeper,
    followed: &[(String, ResourceTarget)],
) -> Vec<u64> {
    let digests = followed.iter().map(|(_, subject)| {
        let subject = locate_target(keeper, subject.clone());
        target_digest(keeper, &subject)
    });
    digests.collect()
}

/// Promises a client what it wishes, as far as it can be `followed`.
pub(super) fn accepted_filter(
    wish: &SubscriptionFilter,
    followed: &[(String, ResourceTarget)],
) -> SubscriptionFilter {
    let mut promise = SubscriptionFilter::new();
    promise.resources_list_changed = wish.resources_list_changed;
    promise.resource_subscriptions = Some(followed.iter().map(|(uri, _)| uri.clone()).collect());
    promise
}

/// Lists by palace what tells whether its rooms and scrolls are the same; one
/// that has none adds nothing to the list of resources.
fn title_hashes(editions: &BTreeMap<String, Generation>) -> Vec<(&String, u64)> {
    let titles = editions.iter().map(|(key, it)| (key, it.titles));
    titles.filter(|(_, titles)| *titles > 0).collect()
}

/// Finds the palace of an address; what is not there yet may come.
fn locate_target(keeper: &mut Keeper, subject: ResourceTarget) -> ResourceTarget {
    match subject {
        ResourceTarget::RoomOrScroll(address) => {
            ResourceTarget::RoomOrScroll(keeper::resolve_uri(keeper, &address).unwrap_or(address))
        }
        graph @ ResourceTarget::Graph(_) => graph,
    }
}

/// Tells what somebody reads there from what they would have read before.
fn target_digest(keeper: &mut Keeper, subject: &ResourceTarget) -> u64 {
    match subject {
        ResourceTarget::RoomOrScroll(address) => {
            let mut hasher = DefaultHasher::new();
            keeper::render_resource(keeper, address).map_err(|_| ()).hash(&mut hasher);
            hasher.finish()
        }
        ResourceTarget::Graph(by) => keeper::graph_digest(keeper, by).unwrap_or_default(),
    }
}
