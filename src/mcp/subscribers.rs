//! Who wants to be told when a room or scroll has changed, in both eras.
//!
//! What a subscriber would read is compared with what it would have read
//! before, so that it hears of every change to it and of nothing else, whoever
//! made the change: a person, another server, or a tool of this one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rmcp::RoleServer;
use rmcp::model::{RequestId, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};

use crate::keeper::{Edition, Keeper};
use crate::mcp::resources::address;
use crate::model::Uri;

/// How many resources one subscriber can follow.
const MOST: usize = 1_000;

/// Everybody who wants to be told.
#[derive(Default)]
pub(super) struct Subscribers {
    subscriptions: Vec<Subscription>,
    listeners: Vec<SubscriptionSink>,
    promised: BTreeMap<String, u64>,
    editions: BTreeMap<String, Edition>,
}

/// One resource, and who follows it.
struct Subscription {
    uri: String,
    address: Uri,
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
        address: Uri,
    ) -> Result<(), String> {
        self.unfollow(uri);
        let greeted = |it: &&Subscription| it.by == Follower::Greeted;
        if self.subscriptions.iter().filter(greeted).count() >= MOST {
            return Err(format!("more than {MOST} resources cannot be followed at once"));
        }
        self.add(keeper, uri, address, Follower::Greeted);
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
        keeper: &mut Keeper,
        wish: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let uris = wish.resource_subscriptions.iter().flatten();
        let followed = uris.filter_map(|uri| Some((uri, address(uri).ok()?))).take(MOST);
        let mut promised = Vec::new();
        for (uri, address) in followed {
            // What is not there yet may come.
            let address = keeper.locate(&address).unwrap_or(address);
            self.promised.insert(uri.clone(), digest(keeper, &address));
            promised.push(uri.clone());
        }
        self.acquaint(keeper);
        let mut promise = SubscriptionFilter::new();
        promise.resources_list_changed = wish.resources_list_changed;
        promise.resource_subscriptions = Some(promised);
        promise
    }

    /// Lets a client listen to what it was promised.
    pub(super) fn listen(&mut self, keeper: &mut Keeper, sink: &SubscriptionSink) {
        self.listeners.push(sink.clone());
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            let Ok(address) = address(uri) else { continue };
            let address = keeper.locate(&address).unwrap_or(address);
            self.add(keeper, uri, address, Follower::Listener(sink.id().clone()));
        }
    }

    /// Ends that.
    pub(super) fn leave(&mut self, sink: &SubscriptionSink) {
        self.listeners.retain(|it| it.id() != sink.id());
        self.subscriptions.retain(|it| it.by != Follower::Listener(sink.id().clone()));
    }

    /// Takes note of what is open: a client that asks for it knows.
    pub(super) fn acquaint(&mut self, keeper: &Keeper) {
        for (key, edition) in keeper.editions() {
            self.editions.entry(key).or_insert(edition);
        }
    }

    /// Tells whether nobody listens who has not shaken hands.
    pub(super) fn no_listeners(&self) -> bool {
        self.listeners.is_empty()
    }

    /// Finds out what is to be told since the last time.
    pub(super) fn gather(&mut self, keeper: &mut Keeper) -> News {
        let before = std::mem::replace(&mut self.editions, keeper.editions());
        let titles = |it: &BTreeMap<String, Edition>| -> Vec<_> {
            it.iter().map(|(key, it)| (key.clone(), it.titles)).collect()
        };
        let mut news =
            News { retitled: titles(&before) != titles(&self.editions), ..News::default() };
        for subscription in &mut self.subscriptions {
            let key = &subscription.address.workspace;
            let is_new = std::mem::take(&mut subscription.is_new);
            if !is_new && before.get(key) == self.editions.get(key) {
                continue;
            }
            let digest = digest(keeper, &subscription.address);
            if std::mem::replace(&mut subscription.digest, digest) != digest {
                news.updated.push((subscription.by.clone(), subscription.uri.clone()));
            }
        }
        news.listeners.clone_from(&self.listeners);
        news
    }

    fn add(&mut self, keeper: &mut Keeper, uri: &str, address: Uri, by: Follower) {
        let promised = self.promised.remove(uri);
        let digest = promised.unwrap_or_else(|| digest(keeper, &address));
        let (uri, is_new) = (uri.to_owned(), true);
        self.subscriptions.push(Subscription { uri, address, by, digest, is_new });
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

/// Tells what somebody reads there from what they would have read before.
fn digest(keeper: &mut Keeper, address: &Uri) -> u64 {
    let mut hasher = DefaultHasher::new();
    keeper.leaf(address).map_err(|_| ()).hash(&mut hasher);
    hasher.finish()
}
