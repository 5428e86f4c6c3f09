//! Mending the files of palaces where there is no doubt what was meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::format::{self, FixedFile, PalacePath, RoomNameIndex};
use crate::keeper::maintain::check::display_path;
use crate::keeper::maintain::fmt::read_palace_files;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Change, Code, Diagnostic, Edit, Files, MAX_FILE_BYTES};
use crate::store::{CommitOutcome, Store};

/// How often files are read anew that somebody else is changing meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// What was mended in one palace.
#[derive(Clone, Debug, Default)]
pub struct FixReport {
    /// Where the palace lies.
    root: PathBuf,
    /// What was wrong, and is no more.
    fixed: Vec<Diagnostic>,
    edits: Vec<Edit>,
}

impl Keeper {
    /// Mends the files of all palaces of the home, as far as there is no doubt
    /// what was meant. Nothing is committed.
    pub fn fix_files(&self, by: &Caller) -> Result<Vec<FixReport>, Refusal> {
        let stores = self.workspaces()?.into_iter().map(|it| self.store_of(&it));
        stores.map(|mut store| fix_palace(&mut store, by)).collect()
    }
}

impl FixReport {
    /// Says what was mended, a line for each, with paths from `here`.
    pub fn report_lines(&self, here: &Path) -> Vec<String> {
        let told = |it: &Diagnostic| {
            let Diagnostic { file, at, code, message, .. } = it;
            let path = display_path(here, &self.root, file);
            format!("{path}:{}:{}: mended[{code}]: {message}", at.line, at.column)
        };
        self.fixed.iter().map(told).collect()
    }
}

fn fix_palace(store: &mut Store, by: &Caller) -> Result<FixReport, Refusal> {
    for _ in 0..MAX_ATTEMPTS {
        let mending = plan_fixes(store)?;
        if mending.edits.is_empty() {
            return Ok(mending);
        }
        let change = Change::uncommitted("mend", mending.edits.clone(), by.author.clone(), by.now);
        if let CommitOutcome::Done(_) = store.commit(&change)? {
            return Ok(mending);
        }
    }
    Err(Refusal::Contended)
}

fn plan_fixes(store: &Store) -> Result<FixReport, Refusal> {
    let (files, unread) = read_palace_files(store, None)?;
    let mut mending = FixReport { root: store.root().to_owned(), ..FixReport::default() };
    plan_file_moves(store, &files, unread, &mut mending);
    let moved: Vec<_> = mending.edits.iter().map(|it| it.path.clone()).collect();
    let anew = mending.edits.iter().filter_map(|it| Some((&it.path, it.now.as_ref()?)));
    let rooms = RoomNameIndex::from_files(
        files.iter().filter(|(path, _)| !moved.contains(path)).chain(anew),
    );
    let files = files.into_par_iter().filter(|(path, _)| !moved.contains(path));
    let mended = files.filter_map(|(path, was)| {
        let FixedFile { text, fixed: faults } = format::fix_file(&path, &was, &rooms)?;
        let edit = Edit { path, was: Some(was), now: Some(text) };
        edit.now.as_ref().is_some_and(|it| it.len() <= MAX_FILE_BYTES).then_some((edit, faults))
    });
    for (edit, faults) in mended.collect::<Vec<_>>() {
        mending.edits.push(edit);
        mending.fixed.extend(faults);
    }
    Ok(mending)
}

/// Moves files to where they are read, if nothing stands there.
fn plan_file_moves(store: &Store, files: &Files, unread: Vec<Diagnostic>, mending: &mut FixReport) {
    let misnamed = files.keys().filter_map(|it| PalacePath::parse(it).err());
    let misnamed = misnamed.chain(unread).filter(|it| it.code == Code::FileName);
    let mut moves = BTreeMap::new();
    for fault in misnamed {
        let Some(to) = format::corrected_path(&fault.file) else { continue };
        let is_free = store.read_file(&to) == Ok(None) && !moves.contains_key(&to);
        if let (true, Ok(Some(text))) = (is_free, store.read_file(&fault.file))
            && !format::has_merge_conflict(&text)
        {
            moves.insert(to, (fault, text));
        }
    }
    for (to, (fault, text)) in moves {
        let gone = Edit { path: fault.file.clone(), was: Some(text.clone()), now: None };
        mending.edits.extend([gone, Edit { path: to, was: None, now: Some(text) }]);
        mending.fixed.push(fault);
    }
}
