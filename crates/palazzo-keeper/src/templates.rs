//! Templates: palaces that new palaces begin with.
//!
//! A template is any palace: one in the program, one in the user's template folder, any other
//! folder, or one in a git repository elsewhere. Reading one runs nothing of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ulid::Generator;

use crate::error::quote_names;
use crate::session::new_id;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    Code, Diagnostic, Files, GitUrl, GitUrlError, TemplateSettings, did_you_mean,
    is_host_memory_path, path_text, quote_for_shell, quoted,
};
use palazzo_store::{self as store, ShallowClone, Store};

/// Maximum number of characters of the value of a variable.
const MAX_VALUE_CHARS: usize = 200;

/// The part of a title that marks an example of a template.
const EXAMPLE: &str = "(example)";

/// A palace that a new palace can begin with.
#[derive(Clone, Debug)]
pub struct Template {
    /// Its name, or its path or URL as it was given.
    pub name: String,
    /// Its folder; `None`: it is in the program, or elsewhere.
    pub folder: Option<PathBuf>,
    /// Its description and its variables.
    pub settings: TemplateSettings,
    /// The tools that its actions may call and those of a new palace may not.
    pub allow: Vec<String>,
    files: Files,
}

/// The templates that can be used by name.
#[derive(Debug, Default)]
pub struct TemplateList {
    /// The templates, by name.
    pub templates: Vec<Template>,
    /// The errors of folders in the user's template folder that cannot be read.
    pub errors: Vec<Refusal>,
}

impl Template {
    /// Returns the number of rooms.
    pub fn room_count(&self) -> usize {
        self.files.keys().filter(|it| it.starts_with("rooms/")).count()
    }

    /// Returns the number of entities.
    pub fn entity_count(&self) -> usize {
        self.files.keys().filter(|it| it.starts_with("entities/")).count()
    }

    /// Returns the files of a new palace: with the values of the variables, new ids, and `now` as
    /// the time at which everything was written.
    pub fn new_palace_files(
        &self,
        values: &BTreeMap<String, String>,
        caller: &Caller,
    ) -> Result<Files, Refusal> {
        let values = self.complete_values(values)?;
        let files = format::fill_template(&self.files, &values)
            .map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let mut ids = Generator::new();
        let files = format::renew_ids(&files, || new_id(&mut ids, caller.now));
        Ok(format::renew_times(&files, caller.now))
    }

    /// Returns the given values with the defaults of the others; refuses if a value is missing.
    fn complete_values(
        &self,
        given: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Refusal> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            self.reject_unknown_variable(name)?;
            values.insert(name.clone(), parse_value(name, value)?);
        }
        let mut missing = Vec::new();
        for variable in &self.settings.variables {
            match &variable.default {
                _ if values.contains_key(&variable.name) => {}
                Some(default) => drop(values.insert(variable.name.clone(), default.clone())),
                None => missing.push(variable.clone()),
            }
        }
        match missing.is_empty() {
            true => Ok(values),
            false => Err(Refusal::MissingVariables { template: self.name.clone(), missing }),
        }
    }

    fn reject_unknown_variable(&self, name: &str) -> Result<(), Refusal> {
        let known: Vec<_> = self.settings.variables.iter().map(|it| it.name.as_str()).collect();
        if known.contains(&name) {
            return Ok(());
        }
        let hint = match (did_you_mean(name, known.iter().copied()), known.is_empty()) {
            (Some(meant), _) => format!("; did you mean {}?", quoted(meant)),
            (None, true) => ": it has none".to_owned(),
            (None, false) => {
                format!("; it has {}", known.into_iter().map(quoted).collect::<Vec<_>>().join(", "))
            }
        };
        let [template, name] = [&self.name, name].map(quoted);
        Err(Refusal::Invalid(format!("the template {template} has no variable {name}{hint}")))
    }
}

/// Where a template is: the URL of a repository, and a revision and a folder in it.
///
/// Invariant: git can take neither the revision nor the folder for something else.
#[derive(Debug)]
pub struct GitTemplateUrl {
    pub(super) url: GitUrl,
    /// A branch, a tag or the id of a commit; `None`: the default branch.
    pub(super) revision: Option<String>,
    /// The folder of the palace, or one with a single palace; empty for the root.
    pub(super) folder: String,
}

impl GitTemplateUrl {
    /// Returns the message for a folder that has no palace, or several.
    fn message_without_one_palace(&self, palaces: &[String]) -> String {
        let Self { url, revision, folder } = self;
        let place = match folder.as_str() {
            "" => format!("`{url}`"),
            _ => format!("{} of `{url}`", quoted(folder)),
        };
        let choose = |folder| {
            let revision = revision.as_deref().unwrap_or_default();
            format!("`--template {}`", quote_for_shell(&format!("{url}#{revision}:{folder}")))
        };
        match palaces {
            [] => format!(
                "{place} is not a template: there is no palace.toml in it, nor in a folder of it; \
                 for a palace further down, give {}",
                choose("FOLDER")
            ),
            [first, ..] => format!(
                "{place} contains several palaces: {}; choose one, for example with {}",
                quote_names(palaces),
                choose(first)
            ),
        }
    }
}

impl fmt::Display for GitTemplateUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, revision, folder } = self;
        let revision = revision.as_deref().unwrap_or_default();
        match (revision, folder.as_str()) {
            ("", "") => write!(f, "{url}"),
            (_, "") => write!(f, "{url}#{revision}"),
            _ => write!(f, "{url}#{revision}:{folder}"),
        }
    }
}

impl FromStr for GitTemplateUrl {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (url, place) = text.split_once('#').unwrap_or((text, ""));
        let url: GitUrl =
            url.parse().map_err(|it: GitUrlError| Refusal::Invalid(it.to_string()))?;
        let (revision, folder) = place.split_once(':').unwrap_or((place, ""));
        if !is_revision(revision) {
            return Err(Refusal::Invalid(format!(
                "{} cannot be used as a revision: give a branch, a tag or the full id of a commit",
                quoted(revision)
            )));
        }
        let folder = folder.trim_matches('/').to_owned();
        if !folder.is_empty() && store::check_path(&folder).is_err() {
            return Err(Refusal::Invalid(format!(
                "{} cannot be used as a folder of the repository: give its path from the root, \
                 without `..`",
                quoted(&folder)
            )));
        }
        let revision = Some(revision.to_owned()).filter(|it| !it.is_empty());
        Ok(Self { url, revision, folder })
    }
}

/// Lists the templates of the user and those in the program. A template of the user hides one in
/// the program with the same name.
pub fn list_templates(keeper: &Keeper) -> Result<TemplateList, Refusal> {
    let mut list = TemplateList::default();
    let mut by_name = BTreeMap::new();
    for (name, files) in (keeper.built_in_templates)() {
        let template = parse_template(&name, None, files).ok();
        by_name.insert(name, template);
    }
    for name in user_template_names(keeper)? {
        match user_template(keeper, &name) {
            Ok(template) => drop(by_name.insert(name, template)),
            Err(refusal) => list.errors.push(refusal),
        }
    }
    list.templates = by_name.into_values().flatten().collect();
    Ok(list)
}

/// Finds a template by name: in the user's template folder, else in the program.
pub fn find_template(keeper: &Keeper, name: &str) -> Result<Template, Refusal> {
    let own = user_template_names(keeper)?;
    if own.iter().any(|it| it == name)
        && let Some(template) = user_template(keeper, name)?
    {
        return Ok(template);
    }
    let mut built_in = (keeper.built_in_templates)();
    let template = built_in.remove(name).and_then(|it| parse_template(name, None, it).ok());
    template.ok_or_else(|| {
        let known: Vec<_> = own.into_iter().chain(built_in.into_keys()).collect();
        let meant = did_you_mean(name, known.iter().map(String::as_str)).map(str::to_owned);
        Refusal::NoSuchTemplate { asked: name.to_owned(), meant, known }
    })
}

/// Reads the template in `folder`: a palace, or a home with one palace. `name` is the name for
/// messages.
pub fn read_template(folder: &Path, name: &str) -> Result<Template, Refusal> {
    let palaces = store::list_palaces(folder)?;
    let [palace] = palaces.as_slice() else {
        return Err(not_one_palace_refusal(folder, palaces.len()));
    };
    let store = Store::new(palace.clone(), palace.clone());
    let (stamps, findings) = store.list_files("")?;
    reject_unreadable_files(name, findings)?;
    let mut files = Files::new();
    for (path, text) in store.read_files(stamps.into_keys().collect()) {
        let text = text.map_err(|it| Refusal::UnreadableFile(it.into()))?;
        files.extend(text.map(|text| (path, text)));
    }
    parse_template(name, Some(palace.clone()), files)
}

/// Fetches a template with git, and reads it: a palace, or a folder with one palace. Only a person
/// may name a URL, because git then connects to any host.
pub fn fetch_template(from: &GitTemplateUrl, caller: &Caller) -> Result<Template, Refusal> {
    let is_cancelled = || caller.is_cancelled();
    let clone = ShallowClone::fetch(&from.url, from.revision.as_deref(), &is_cancelled)?;
    let palaces = clone.list_palaces(&from.folder)?;
    let [palace] = palaces.as_slice() else {
        return Err(Refusal::Invalid(from.message_without_one_palace(&palaces)));
    };
    let (files, findings) = clone.read_palace(palace)?;
    reject_unreadable_files(&from.to_string(), findings)?;
    parse_template(&from.to_string(), None, files)
}

/// Refuses a folder that is not one palace.
fn not_one_palace_refusal(folder: &Path, palaces: usize) -> Refusal {
    let shown = path_text(folder);
    let why = match palaces {
        0 if store::is_bare_repository(folder) => {
            let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            let url = quote_for_shell(&format!("file://{}", place.display()));
            format!("it is a bare git repository; give its URL: `--template {url}`")
        }
        0 if folder.join(PalacePath::SETTINGS_FILE).is_symlink() => {
            "its palace.toml is a symbolic link, and links are not followed".to_owned()
        }
        0 if !folder.exists() => "there is no such folder".to_owned(),
        0 => "there is no palace.toml in it; give the folder of a palace".to_owned(),
        _ => "it contains several palaces; give the folder of one".to_owned(),
    };
    Refusal::Invalid(format!("`{shown}` is not a template: {why}"))
}

/// Refuses a template with files that are not read.
fn reject_unreadable_files(name: &str, findings: Vec<Diagnostic>) -> Result<(), Refusal> {
    match findings.into_iter().next() {
        None => Ok(()),
        Some(it) if it.code == Code::Link => Err(Refusal::Invalid(format!(
            "the template {} has a symbolic link, {}, and links are not followed: put a copy of \
             the file there",
            quoted(name),
            quoted(&it.file)
        ))),
        Some(finding) => Err(Refusal::UnreadableFile(finding.into())),
    }
}

fn user_template(keeper: &Keeper, name: &str) -> Result<Option<Template>, Refusal> {
    let folder = keeper.template_folder.as_ref().map(|it| it.join(name));
    folder.map(|it| read_template(&it, name)).transpose()
}

/// Lists the palaces in the user's template folder.
fn user_template_names(keeper: &Keeper) -> Result<Vec<String>, Refusal> {
    let Some(folder) = &keeper.template_folder else { return Ok(Vec::new()) };
    let palaces = store::list_palaces(folder)?.into_iter();
    let inside = palaces.filter(|it| it != folder);
    Ok(inside.filter_map(|it| Some(it.file_name()?.to_str()?.to_owned())).collect())
}

fn parse_template(
    name: &str,
    folder: Option<PathBuf>,
    mut files: Files,
) -> Result<Template, Refusal> {
    // What a host remembers of a project is private, and of no use in another.
    files.retain(|path, _| !is_host_memory_path(path));
    let text = files.get(PalacePath::SETTINGS_FILE).map_or("", String::as_str);
    let place = folder.clone().unwrap_or_else(|| PathBuf::from(name));
    if let Some(finding) = format::find_other_format(text) {
        let file = place.join(PalacePath::SETTINGS_FILE).display().to_string();
        return Err(Refusal::OtherFormat(Diagnostic { file, ..finding }.into()));
    }
    let settings = format::parse_settings(text).ok_or_else(|| {
        let message = "cannot be read; `palazzo check` on the template shows why";
        Refusal::Invalid(format!(
            "the {} of {} {message}",
            PalacePath::SETTINGS_FILE,
            path_text(&place)
        ))
    })?;
    let (name, allowed_tools, settings) =
        (name.to_owned(), settings.allowed_tools, settings.template);
    Ok(Template { name, folder, settings, allow: allowed_tools, files })
}

/// Returns the value of a variable without spaces around it. A value is one line, so that it can
/// be a name and does not break a file.
fn parse_value(name: &str, value: &str) -> Result<String, Refusal> {
    let value = value.trim();
    let why = if value.is_empty() {
        "it is empty"
    } else if value.chars().count() > MAX_VALUE_CHARS {
        "it has more than 200 characters"
    } else if value.contains(char::is_control) || value.contains("{{") {
        "it is one line of text without control characters and `{{`"
    } else {
        return Ok(value.to_owned());
    };
    Err(Refusal::Invalid(format!("the value of {} cannot be used: {why}", quoted(name))))
}

/// Returns whether git accepts `text` as the name of a reference, so that it is neither an option
/// nor a pattern.
fn is_revision(text: &str) -> bool {
    let is_forbidden = |c: char| c.is_control() || " ~^?*[\\".contains(c);
    !text.starts_with(['-', '+']) && !text.contains(is_forbidden) && !text.contains("..")
}

/// Returns whether an item with this name or title is an example of a template.
pub(crate) fn is_example(name: &str) -> bool {
    name.to_lowercase().contains(EXAMPLE)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_home::{NOW, ada};

    const SETTINGS: &str = "name = \"T\"\nentry = \"hall\"\n[template]\ndescription = \"One service.\"\n\
        [template.variables]\nproject = { description = \"its name\" }\n\
        owner = { description = \"who runs it\", default = \"nobody\" }\n";
    const HALL: &str = "id: 01KH1B52XCWPR7HNREBYABVDT7\nname: Hall of {{project}}\n\
        description: Run by {{owner}}.\n";
    const NOTE: &str = "---\ntitle: N\nwritten: 2020-01-01\n---\n\nIn 01KH1B52XCWPR7HNREBYABVDT7\n";

    /// Returns a keeper whose template folder has the templates `service` and `codebase`.
    fn keeper_with_templates(dir: &Path) -> Keeper {
        for name in ["service", "codebase"] {
            let files =
                [("palace.toml", SETTINGS), ("rooms/hall.yaml", HALL), ("scrolls/hall/n.md", NOTE)];
            for (path, text) in files {
                let place = dir.join("templates").join(name).join(path);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, text).unwrap();
            }
        }
        Keeper::new(dir.join("home"), None)
            .with_built_in_templates(built_in_templates)
            .with_template_folder(Some(dir.join("templates")))
    }

    /// Returns the templates `codebase` and `runbook`, as the program would.
    fn built_in_templates() -> BTreeMap<String, Files> {
        let files = [("palace.toml", "name = \"T\"\n"), ("rooms/hall.yaml", "name: Hall\n")];
        let files: Files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        ["codebase", "runbook"].map(|it| (it.to_owned(), files.clone())).into()
    }

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn refusal(template: &Template, pairs: &[(&str, &str)]) -> String {
        template.new_palace_files(&values(pairs), &ada()).unwrap_err().to_string()
    }

    #[test]
    fn a_new_palace_has_the_values_new_ids_and_new_times() {
        let dir = tempfile::tempdir().unwrap();
        let template = find_template(&keeper_with_templates(dir.path()), "service").unwrap();
        let files =
            template.new_palace_files(&values(&[("project", " Atlas: 2 ")]), &ada()).unwrap();
        assert_eq!(files["palace.toml"], "name = \"T\"\nentry = \"hall\"\n");
        let (id, room) = files["rooms/hall.yaml"].split_once('\n').unwrap();
        assert_eq!(room, "name: \"Hall of Atlas: 2\"\ndescription: Run by nobody.\n");
        assert!(id.starts_with("id: 01") && !HALL.starts_with(id), "{id}");
        let note = &files["scrolls/hall/n.md"];
        assert!(note.contains(&format!("written: {NOW}\n")), "{note}");
        assert!(note.contains(&format!("In {}\n", &id[4..])), "{note}");
    }

    #[test]
    fn missing_unknown_and_unusable_values_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let template = find_template(&keeper_with_templates(dir.path()), "service").unwrap();
        assert_eq!(
            refusal(&template, &[]),
            "the template `service` needs values: `project` (`its name`). Give them on the command \
             line: `palazzo init NAME --template service --set project=VALUE`"
        );
        assert_eq!(
            refusal(&template, &[("projct", "A")]),
            "the template `service` has no variable `projct`; did you mean `project`?"
        );
        for value in [" ", "a\nb", "{{owner}}", &"a".repeat(201)] {
            let refused = refusal(&template, &[("project", value)]);
            assert!(refused.starts_with("the value of `project` cannot be used: "), "{refused}");
        }
    }

    #[test]
    fn a_template_of_the_user_hides_the_one_in_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let keeper = keeper_with_templates(dir.path());
        let list = list_templates(&keeper).unwrap();
        assert!(list.errors.is_empty(), "{:?}", list.errors);
        let names: Vec<_> = list.templates.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["codebase", "runbook", "service"]);
        let own = find_template(&keeper, "codebase").unwrap();
        assert_eq!((own.room_count(), own.entity_count()), (1, 0));
        assert_eq!(own.folder, Some(dir.path().join("templates/codebase")));
        let without = keeper.with_template_folder(None);
        assert_eq!(find_template(&without, "codebase").unwrap().folder, None);
    }

    #[test]
    fn an_unknown_template_is_refused_with_the_most_similar_one_and_all() {
        let keeper =
            Keeper::new("/nowhere".into(), None).with_built_in_templates(built_in_templates);
        let refusal = |name| find_template(&keeper, name).unwrap_err().to_string();
        let all = "Templates: `codebase`, `runbook`";
        let message = format!("there is no template `codebse`; did you mean `codebase`? {all}");
        assert_eq!(refusal("codebse"), message);
        assert_eq!(refusal("../x"), format!("there is no template `../x`. {all}"));
    }

    #[test]
    fn a_template_of_a_newer_format_names_its_file_and_the_update() {
        let dir = tempfile::tempdir().unwrap();
        let keeper = keeper_with_templates(dir.path());
        let folder = dir.path().join("templates/service");
        fs::write(folder.join("palace.toml"), format!("format = 2\n{SETTINGS}")).unwrap();
        let refused = find_template(&keeper, "service").unwrap_err().to_string();
        insta::assert_snapshot!(refused.replace(&folder.display().to_string(), "TEMPLATE"), @"TEMPLATE/palace.toml: this palace has format 2, which needs a newer Palazzo; this one reads format 1. Nothing was read or changed: update Palazzo; `palazzo doctor` prints the command");
    }

    #[test]
    fn a_folder_is_a_template_if_it_is_a_palace_or_has_one() {
        let dir = tempfile::tempdir().unwrap();
        keeper_with_templates(dir.path());
        let templates = dir.path().join("templates");
        assert!(read_template(&templates.join("service"), "x").is_ok());
        let refused = read_template(&templates, "x").unwrap_err().to_string();
        assert!(refused.contains("several palaces"), "{refused}");
        fs::remove_dir_all(templates.join("codebase")).unwrap();
        assert_eq!(read_template(&templates, "x").unwrap().room_count(), 1);
        let refused = read_template(dir.path(), "x").unwrap_err().to_string();
        assert!(refused.contains("there is no palace.toml in it"), "{refused}");
        fs::write(templates.join("service/palace.toml"), "name = [").unwrap();
        let refused = read_template(&templates, "x").unwrap_err().to_string();
        assert!(refused.contains("cannot be read"), "{refused}");
    }

    #[test]
    fn a_url_has_a_revision_and_a_folder_if_they_are_given() {
        let parts = |text: &str| {
            let GitTemplateUrl { url, revision, folder } = text.parse().unwrap();
            (url.to_string(), revision.unwrap_or_default(), folder)
        };
        let expected = |parts: [&str; 3]| {
            let [url, revision, folder] = parts.map(str::to_owned);
            (url, revision, folder)
        };
        let url = "https://example.org/a.git";
        assert_eq!(parts(url), expected([url, "", ""]));
        assert_eq!(parts(&format!("{url}#v1/x")), expected([url, "v1/x", ""]));
        assert_eq!(parts(&format!("{url}#main:sub/b/")), expected([url, "main", "sub/b"]));
        assert_eq!(parts(&format!("{url}#:b")), expected([url, "", "b"]));
        let scp = "git@example.org:ada/a.git#main:b";
        assert_eq!(parts(scp), expected(["git@example.org:ada/a.git", "main", "b"]));
        assert_eq!(scp.parse::<GitTemplateUrl>().unwrap().to_string(), scp);
    }

    #[test]
    fn a_revision_that_is_an_option_or_a_pattern_is_refused() {
        for revision in ["--upload-pack=x", "+main", "a..b", "refs/heads/*", "HEAD~1", "a b"] {
            let refused = format!("https://a/b#{revision}").parse::<GitTemplateUrl>().unwrap_err();
            assert!(refused.to_string().contains("cannot be used as a revision"), "{refused}");
        }
    }

    #[test]
    fn a_folder_outside_of_the_repository_is_refused_before_anything_is_fetched() {
        for folder in ["../x", "a/../b", "a//b", ".git", "a\\b"] {
            let refused = format!("https://a/b#:{folder}").parse::<GitTemplateUrl>().unwrap_err();
            assert!(refused.to_string().contains(folder), "{refused}");
        }
    }

    #[test]
    fn several_palaces_are_listed_with_the_way_to_choose_one() {
        let url: GitTemplateUrl = "https://a/b#v1".parse().unwrap();
        insta::assert_snapshot!(
            url.message_without_one_palace(&["code".to_owned(), "shop".to_owned()]),
            @"`https://a/b` contains several palaces: `code`, `shop`; choose one, for example with `--template 'https://a/b#v1:code'`"
        );
        insta::assert_snapshot!(
            url.message_without_one_palace(&[]),
            @"`https://a/b` is not a template: there is no palace.toml in it, nor in a folder of it; for a palace further down, give `--template 'https://a/b#v1:FOLDER'`"
        );
    }
}
