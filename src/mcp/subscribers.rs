//! Who wants to be told when a room, a scroll or the graph has changed, in both
//! eras.
//!
//! What a subscriber would read is compared with what it would have read
//! before, so that it hears of every change to it and of nothing else, whoever
//! made the change: a person, another server, or a tool of this one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rmcp::RoleServer;
use rmcp::model::{RequestId, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};

use crate::keeper::{Caller, Edition, Keeper};
use crate::mcp::Toolbox;
use crate::mcp::resources::{Subject, subject};

/// How many resources one subscriber can follow.
const MOST: usize = 1_000;

/// Everybody who wants to be told.
#[derive(Default)]
pub(super) struct Subscribers {
    subscriptions: Vec<Subscription>,
    listeners: Vec<SubscriptionSink>,
    promised: BTreeMap<String, u64>,
    /// What was open when news were last gathered; `None`: nobody has asked yet
    /// for anything that can change.
    editions: Option<BTreeMap<String, Edition>>,
}

/// One resource, and who follows it.
struct Subscription {
    uri: String,
    subject: Subject,
    by: Follower,
    digest: u64,
    is_new: bool,
}

/// Who follows a resource.
#[derive(Clone, PartialEq)]
enum Follower {
    /// The client that has shaken hands.
    Greeted,
    /// A client that listens, by the request it listens with.
    Listener(RequestId),
}

/// What is to be told.
#[derive(Default)]
pub(super) struct News {
    retitled: bool,
    listeners: Vec<SubscriptionSink>,
    updated: Vec<(Follower, String)>,
}

impl Subscribers {
    /// Lets the client that has shaken hands follow what it calls `uri`; the
    /// error says why it cannot.
    pub(super) fn follow(
        &mut self,
        keeper: &mut Keeper,
        uri: &str,
        subject: Subject,
    ) -> Result<(), String> {
        self.unfollow(uri);
        let greeted = |it: &&Subscription| it.by == Follower::Greeted;
        if self.subscriptions.iter().filter(greeted).count() >= MOST {
            return Err(format!("more than {MOST} resources cannot be followed at once"));
        }
        self.add(keeper, uri, subject, Follower::Greeted);
        self.acquaint(keeper);
        Ok(())
    }

    /// Ends that.
    pub(super) fn unfollow(&mut self, uri: &str) {
        self.subscriptions.retain(|it| it.by != Follower::Greeted || it.uri != uri);
    }

    /// Returns what of a wish to listen can be promised. From now on, not only
    /// when the client has heard of the promise, everything counts.
    pub(super) fn promise(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        by: &Caller,
        wish: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let uris = wish.resource_subscriptions.iter().flatten();
        let followed = uris.filter_map(|uri| Some((uri, subject(tools, by, uri).ok()?)));
        let mut promised = Vec::new();
        for (uri, subject) in followed.take(MOST) {
            let subject = located(keeper, subject);
            self.promised.insert(uri.clone(), digest(keeper, &subject));
            promised.push(uri.clone());
        }
        self.acquaint(keeper);
        let mut promise = SubscriptionFilter::new();
        promise.resources_list_changed = wish.resources_list_changed;
        promise.resource_subscriptions = Some(promised);
        promise
    }

    /// Lets a client listen to what it was promised.
    pub(super) fn listen(
        &mut self,
        tools: &Toolbox,
        keeper: &mut Keeper,
        by: &Caller,
        sink: &SubscriptionSink,
    ) {
        self.listeners.push(sink.clone());
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            let Ok(subject) = subject(tools, by, uri) else { continue };
            let subject = located(keeper, subject);
            self.add(keeper, uri, subject, Follower::Listener(sink.id().clone()));
        }
    }

    /// Ends that.
    pub(super) fn leave(&mut self, sink: &SubscriptionSink) {
        self.listeners.retain(|it| it.id() != sink.id());
        self.subscriptions.retain(|it| it.by != Follower::Listener(sink.id().clone()));
    }

    /// Takes note of what is open: a client that asks for it knows.
    pub(super) fn acquaint(&mut self, keeper: &Keeper) {
        let editions = self.editions.get_or_insert_default();
        for (key, edition) in keeper.editions() {
            editions.entry(key).or_insert(edition);
        }
    }

    /// Tells whether nobody listens who has not shaken hands.
    pub(super) fn no_listeners(&self) -> bool {
        self.listeners.is_empty()
    }

    /// Finds out what is to be told since the last time.
    pub(super) fn gather(&mut self, keeper: &mut Keeper) -> News {
        let Some(editions) = &mut self.editions else { return News::default() };
        let before = std::mem::replace(editions, keeper.editions());
        let mut news = News { retitled: titles(&before) != titles(editions), ..News::default() };
        for subscription in &mut self.subscriptions {
            let is_new = std::mem::take(&mut subscription.is_new);
            let may_have_changed = match &subscription.subject {
                Subject::Leaf(it) => before.get(&it.workspace) != editions.get(&it.workspace),
                // Its digest is at hand, and the caller may have gone elsewhere.
                Subject::Graph(_) => true,
            };
            if !is_new && !may_have_changed {
                continue;
            }
            let digest = digest(keeper, &subscription.subject);
            if std::mem::replace(&mut subscription.digest, digest) != digest {
                news.updated.push((subscription.by.clone(), subscription.uri.clone()));
            }
        }
        news.listeners.clone_from(&self.listeners);
        news
    }

    fn add(&mut self, keeper: &mut Keeper, uri: &str, subject: Subject, by: Follower) {
        let promised = self.promised.remove(uri);
        let digest = promised.unwrap_or_else(|| digest(keeper, &subject));
        let (uri, is_new) = (uri.to_owned(), true);
        self.subscriptions.push(Subscription { uri, subject, by, digest, is_new });
    }
}

impl News {
    /// Tells it: to `greeted`, if a client has shaken hands, and to all who
    /// listen. Whoever cannot be told has gone.
    pub(super) async fn tell(self, greeted: Option<&Peer<RoleServer>>) {
        if let (true, Some(peer)) = (self.retitled, greeted) {
            peer.notify_resource_list_changed().await.unwrap_or_default();
        }
        for sink in self.listeners.iter().filter(|_| self.retitled) {
            if sink.accepted().resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await.unwrap_or_default();
            }
        }
        for (follower, uri) in self.updated {
            match (follower, greeted) {
                (Follower::Greeted, Some(peer)) => {
                    let update = ResourceUpdatedNotificationParam::new(uri);
                    peer.notify_resource_updated(update).await.unwrap_or_default();
                }
                (Follower::Greeted, None) => {}
                (Follower::Listener(id), _) => {
                    if let Some(sink) = self.listeners.iter().find(|it| *it.id() == id) {
                        sink.notify_resource_updated(uri).await.unwrap_or_default();
                    }
                }
            }
        }
    }
}

/// Lists by palace what tells whether its rooms and scrolls are the same; one
/// that has none adds nothing to the list of resources.
fn titles(editions: &BTreeMap<String, Edition>) -> Vec<(&String, u64)> {
    let titles = editions.iter().map(|(key, it)| (key, it.titles));
    titles.filter(|(_, titles)| *titles > 0).collect()
}

/// Finds the palace of an address; what is not there yet may come.
fn located(keeper: &mut Keeper, subject: Subject) -> Subject {
    match subject {
        Subject::Leaf(address) => Subject::Leaf(keeper.locate(&address).unwrap_or(address)),
        graph @ Subject::Graph(_) => graph,
    }
}

/// Tells what somebody reads there from what they would have read before.
fn digest(keeper: &mut Keeper, subject: &Subject) -> u64 {
    match subject {
        Subject::Leaf(address) => {
            let mut hasher = DefaultHasher::new();
            keeper.leaf(address).map_err(|_| ()).hash(&mut hasher);
            hasher.finish()
        }
        Subject::Graph(by) => keeper.graph_digest(by).unwrap_or_default(),
    }
}
