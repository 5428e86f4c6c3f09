//! The commits that were made since one was the newest.

use crate::model::{CommitId, Record};

use crate::store::history::commits;
use crate::store::history::commits::Past;
use crate::store::{Error, Store};

impl Store {
    /// Tells of the commits that changed the palace and are no part of the past of `known`, newest
    /// first; of at most the `most` newest of all, and whether there are more. `None`: `known` is
    /// gone, cut off or cleared away, and can tell nothing.
    pub fn since(
        &self,
        known: &CommitId,
        most: usize,
    ) -> Result<Option<(Vec<Record>, bool)>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let past = Past::new(&repository);
        let known = commits::id(known).ok().filter(|it| past.git.has_object(*it));
        let (Some(known), Some(tip)) = (known, self.tip(&repository)?) else { return Ok(None) };
        let records = || -> gix::Result<_> {
            let mut records = Vec::new();
            let mut steps = past.steps(tip, Some(known))?;
            for step in steps.by_ref().take(most) {
                let record = past.record(&step?)?;
                if !record.touched.is_empty() {
                    records.push(record);
                }
            }
            Ok((records, steps.next().is_some()))
        };
        records().map(Some).map_err(|err| repository.error("read the history", err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{Scene, change, done};

    const HALL: &str = "rooms/hall.yaml";

    fn told(store: &Store, known: &CommitId, most: usize) -> String {
        let Some((records, are_more)) = store.since(known, most).unwrap() else {
            return "?".to_owned();
        };
        let told = |it: Record| format!("{}: {}", it.moment.by, it.touched.join(" "));
        let told: Vec<_> = records.into_iter().map(told).collect();
        told.join("; ") + if are_more { "; …" } else { "" }
    }

    #[test]
    fn what_was_committed_since_is_told_with_who_did_it() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let begin = store.head().unwrap().unwrap();
        assert_eq!(told(&store, &begin, 9), "");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let first = store.head().unwrap().unwrap();
        scene.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        scene.put("keep/scrolls/hall/one.md", "one\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(told(&store, &first, 9), "Ada: scrolls/hall/one.md");
        assert_eq!(
            told(&store, &begin, 9),
            "Ada: scrolls/hall/one.md; Claude Desktop: rooms/hall.yaml"
        );
        assert_eq!(told(&store, &begin, 2), "Ada: scrolls/hall/one.md; …");
    }

    #[test]
    fn what_came_by_a_merge_is_told_though_it_is_older() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        scene.git(&["switch", "-qc", "side"]);
        done(&mut store, &change(HALL, None, Some("1\n")));
        scene.git(&["switch", "-q", "main"]);
        scene.put("notes.md", "more\n");
        scene.git(&["commit", "-qam", "main"]);
        let known = store.head().unwrap().unwrap();
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        assert_eq!(told(&store, &known, 9), "Claude Desktop: rooms/hall.yaml");
    }

    #[test]
    fn a_commit_that_is_gone_can_tell_nothing() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let gone = CommitId("0123456789012345678901234567890123456789".to_owned());
        assert_eq!(told(&store, &gone, 9), "?");
        assert_eq!(told(&store, &CommitId("no commit".to_owned()), 9), "?");
    }
}
