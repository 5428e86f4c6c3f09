//! Circles between source files: imports, paths and method calls count as dependencies.

use std::collections::{BTreeMap, BTreeSet};

/// The code of each module, by its path: `["keeper", "walk", "enter"]`.
pub(crate) type Modules = BTreeMap<Vec<String>, String>;

/// Methods of these names are also those of the standard library, so a call says nothing.
const COMMON_METHODS: [&str; 23] = [
    "all",
    "add",
    "clear",
    "commit",
    "contains",
    "create",
    "get",
    "insert",
    "is_empty",
    "iter",
    "join",
    "keys",
    "len",
    "lock",
    "next",
    "push",
    "remove",
    "send",
    "size",
    "status",
    "sync",
    "write",
    "write_all",
];

/// Returns the groups of modules that depend on each other, each group sorted.
pub(crate) fn find_circles(modules: &Modules) -> Vec<Vec<String>> {
    let methods = methods_by_name(modules);
    let dependencies: BTreeMap<&[String], BTreeSet<&[String]>> = modules
        .iter()
        .map(|(module, code)| (module.as_slice(), dependencies(modules, &methods, module, code)))
        .collect();
    let reachable: BTreeMap<_, _> =
        dependencies.keys().map(|it| (*it, reachable_from(&dependencies, it))).collect();
    let mut circles = BTreeSet::new();
    for (module, reached) in &reachable {
        let circle = reached.iter().filter(|it| reachable[*it].contains(module));
        let circle: BTreeSet<_> = circle.map(|it| it.join("/")).collect();
        if circle.len() > 1 {
            circles.insert(circle.into_iter().collect::<Vec<_>>());
        }
    }
    circles.into_iter().collect()
}

fn reachable_from<'a>(
    dependencies: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
    start: &'a [String],
) -> BTreeSet<&'a [String]> {
    let (mut reached, mut pending) = (BTreeSet::new(), vec![start]);
    while let Some(module) = pending.pop() {
        let next = dependencies[module].iter().filter(|it| reached.insert(**it));
        pending.extend(next);
    }
    reached
}

fn dependencies<'a>(
    modules: &'a Modules,
    methods: &BTreeMap<String, Option<&'a [String]>>,
    module: &[String],
    code: &str,
) -> BTreeSet<&'a [String]> {
    let mut found = BTreeSet::new();
    for statement in use_statements(code) {
        let paths = expand(statement).into_iter();
        found.extend(paths.filter_map(|it| resolve(modules, module, &it)));
    }
    for line in code.lines().filter(|it| !is_use(it)) {
        // `pub(in crate::format)` names a module and uses nothing of it.
        let line = line.split_once("pub(in ").map_or(line, |(_, it)| it.split_once(')').unwrap().1);
        let paths = paths_in(line).into_iter();
        found.extend(paths.filter_map(|it| resolve(modules, module, &it)));
        for call in line.split('.').skip(1) {
            let name: String = call.chars().take_while(|c| is_word(*c)).collect();
            let is_call = call[name.len()..].starts_with(['(', ':']);
            if is_call && !COMMON_METHODS.contains(&name.as_str()) {
                let owner = methods.get(&name).copied().flatten();
                found.extend(owner.filter(|it| it[0] == module[0]));
            }
        }
    }
    found.retain(|it| *it != module);
    found
}

/// Maps each public method to the module that defines it; `None`: several do.
fn methods_by_name(modules: &Modules) -> BTreeMap<String, Option<&[String]>> {
    let mut methods = BTreeMap::new();
    for (module, code) in modules {
        for line in code.lines().filter(|it| it.starts_with("    pub")) {
            let Some((before, rest)) = line.split_once("fn ") else { continue };
            if before.trim_start().starts_with("pub") && before.starts_with("    p") {
                let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
                let known = methods.entry(name).or_insert(Some(module.as_slice()));
                *known = known.filter(|it| *it == module);
            }
        }
    }
    methods
}

/// Returns the module that a path leads to; `None`: it is not in this crate.
fn resolve<'a>(modules: &'a Modules, module: &[String], path: &[String]) -> Option<&'a [String]> {
    let absolute = absolute(modules, module, path)?;
    let owner = (1..=absolute.len()).rev().find_map(|n| modules.get_key_value(&absolute[..n]))?;
    let (owner, code) = owner;
    match absolute.get(owner.len()) {
        Some(name) => Some(reexported(modules, owner, code, name).unwrap_or(owner)),
        None => Some(owner),
    }
}

fn absolute(modules: &Modules, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let first = path.first()?.as_str();
    let supers = path.iter().take_while(|it| *it == "super").count();
    match first {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([&module[..module.len().checked_sub(supers)?], &path[supers..]].concat()),
        _ => {
            let child = [module, &path[..1]].concat();
            modules.contains_key(&child).then(|| [module, path].concat())
        }
    }
}

/// Returns the module from which `owner` re-exports `name`.
fn reexported<'a>(
    modules: &'a Modules,
    owner: &[String],
    code: &str,
    name: &str,
) -> Option<&'a [String]> {
    let public = code.split("pub").skip(1).filter_map(|it| {
        let it = if it.starts_with('(') { it.split_once(')')?.1 } else { it };
        it.strip_prefix(" use ")?.split_once(';').map(|(statement, _)| statement)
    });
    let paths: Vec<_> = public.flat_map(expand).collect();
    let path = paths.iter().find(|it| it.last().is_some_and(|it| it == name))?;
    let target = absolute(modules, owner, path)?;
    if target[..target.len() - 1] == *owner {
        return None;
    }
    resolve(modules, owner, path)
}

/// Yields the private `use` statements: re-exports are no dependency of their own.
fn use_statements(code: &str) -> impl Iterator<Item = &str> {
    let statements = code.split("\nuse ").skip(1);
    let nested = code.split("\n    use ").skip(1);
    statements.chain(nested).filter_map(|it| it.split_once(';')).map(|(statement, _)| statement)
}

fn is_use(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("use ")
        || line.starts_with("pub use ")
        || line.starts_with("pub(") && line.contains(") use ")
}

/// Expands a use tree into its paths; `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let path = path.split("::").map(|it| it.trim().to_owned());
        return vec![path.filter(|it| it != "self" || tree.starts_with("self")).collect()];
    };
    let prefix: Vec<_> =
        prefix.split("::").map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    let rest = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut paths, mut depth, mut item) = (Vec::new(), 0, String::new());
    for c in rest.chars().chain([',']) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c != ',' || depth > 0 {
            item.push(c);
            continue;
        }
        let item = std::mem::take(&mut item);
        if !item.trim().is_empty() {
            paths.extend(expand(&item).into_iter().map(|it| [prefix.as_slice(), &it].concat()));
        }
    }
    paths
}

/// Lists the paths with `::` in a line of code.
fn paths_in(line: &str) -> Vec<Vec<String>> {
    let words = line.split(|c: char| !is_word(c) && c != ':');
    let paths = words.map(|it| it.trim_matches(':')).filter(|it| it.contains("::"));
    paths.map(|it| it.split("::").map(str::to_owned).collect()).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn a_circle_of_imports_paths_or_method_calls_is_found() {
    let module = |name: &str| name.split('/').map(str::to_owned).collect::<Vec<_>>();
    let modules = |files: &[(&str, &str)]| -> Modules {
        files.iter().map(|(name, code)| (module(name), format!("\n{code}\n"))).collect()
    };
    let imports = modules(&[
        ("a", "use crate::b::{C, D};\npub struct E;"),
        ("b", "use crate::a::E;\npub struct C;"),
        ("c", "use crate::a::E;"),
    ]);
    assert_eq!(find_circles(&imports), [["a", "b"]]);
    let paths = modules(&[("a", "fn f() { crate::b::g() }"), ("b", "fn g() { crate::a::f() }")]);
    assert_eq!(find_circles(&paths), [["a", "b"]]);
    let calls = modules(&[
        ("a", "impl A {\n    pub fn enter_room(&self) {}\n}"),
        ("a/b", "use crate::a::A;\nfn f(a: &A) { a.enter_room(); }"),
        ("c", "fn f() { a.enter_room(); }"),
    ]);
    assert_eq!(find_circles(&calls), Vec::<Vec<String>>::new());
    let child = modules(&[("a", "mod b;\nuse b::B;\npub struct A;"), ("a/b", "use crate::a::A;")]);
    assert_eq!(find_circles(&child), [["a", "a/b"]]);
    let front = modules(&[
        ("a", "mod b;\npub use b::B;"),
        ("a/b", "pub struct B;"),
        ("c", "use crate::a::B;"),
    ]);
    assert_eq!(find_circles(&front), Vec::<Vec<String>>::new());
}
