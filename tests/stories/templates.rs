//! Palaces from templates of the user.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

/// Writes a template with a variable in texts and file names into the user's template folder.
fn write_template(home: &Home, name: &str) {
    write_template_files(home, &format!("../.config/palazzo/templates/{name}"));
}

fn write_template_files(home: &Home, folder: &str) {
    let files = [
        (
            "palace.toml",
            "format = 1\nname = \"Service\"\nentry = \"{{project.slug}}-hall\"\n\n[template]\n\
             description = \"One service.\"\n\n[template.variables]\n\
             project = { description = \"the name of the service\" }\n\n[actions]\n\
             allow = [\"update_entity\"]\n",
        ),
        (
            "rooms/{{project}}-hall.yaml",
            "id: 01KH1B52XCWPR7HNREBYABVDT7\nname: Hall of {{project}}\ndescription: |\n  \
             A plate says {{project}}.\n",
        ),
        (
            "scrolls/{{project}}-hall/01KGQ6SBSCRXFDQ7NJ25KD7B46-start.md",
            "---\nid: 01KGQ6SBSCRXFDQ7NJ25KD7B46\ntitle: \"{{project}} begins\"\n\
             written: 2020-01-01T00:00:00Z\nby: ada\n---\n\nIn 01KH1B52XCWPR7HNREBYABVDT7.\n",
        ),
        ("entities/service/{{project}}.yaml", "name: \"{{project}}\"\ngenus: Service\n"),
        (
            "tasks/01KH2ZA5SY7T07HWG7Z5K1TM7M.yaml",
            "title: Name the owner of {{project}}\nroom: \"{{project.slug}}-hall\"\n",
        ),
    ];
    for (path, text) in files {
        home.write(&format!("{folder}/{path}"), text);
    }
}

/// Returns the standard output and the error stream of a command.
fn run(home: &Home, arguments: &[&str]) -> [String; 2] {
    let output = home.run_palazzo(arguments);
    [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap())
}

#[test]
fn a_template_with_a_variable_becomes_a_palace_of_its_own() {
    let home = Home::new();
    write_template(&home, "service");
    let [listed, _] = run(&home, &["templates"]);
    assert!(listed.contains("service            1 room, 1 entity\n  One service.\n"), "{listed}");
    let [listed, _] = run(&home, &["templates", "--format", "json"]);
    assert!(listed.contains("\"description\": \"the name of the service\""), "{listed}");

    let init = ["init", "Watch", "--template", "service"];
    let [_, refused] = run(&home, &init);
    assert!(refused.contains("needs values: `project` (`the name of the service`)"), "{refused}");
    let [_, said] = run(&home, &[&init[..], &["--set", "project=Atlas: 2"]].concat());
    assert!(said.contains("allows its actions to call `update_entity`"), "{said}");

    let hall = home.read("watch/rooms/atlas-2-hall.yaml");
    assert!(hall.contains("name: \"Hall of Atlas: 2\"\n"), "{hall}");
    assert!(!hall.contains("01KH1B52XCWPR7HNREBYABVDT7"), "{hall}");
    let settings = "format = 1\nname = \"Watch\"\nentry = \"atlas-2-hall\"\n";
    assert_eq!(home.read("watch/palace.toml"), settings);
    let [map, _] = run(&home, &["map"]);
    assert!(
        map.contains("\"Hall of Atlas: 2\" (atlas-2-hall) [1 scroll, v1, just now] entry"),
        "{map}"
    );
    let [_, checked] = run(&home, &["check"]);
    assert_eq!(checked, "1 palace, 1 room, 1 scroll, 1 entity: 0 errors\n");
    home.assert_clean_repository();

    let [copied, _] = run(&home, &["init", "Copy", "--template", "home/watch"]);
    assert!(copied.ends_with("copy\n"), "{copied}");
    assert_ne!(home.read("copy/rooms/atlas-2-hall.yaml"), hall);
}

/// The templates in the program that begin without entities; `paradigm-survey` is the one to look at.
const EMPTY_TEMPLATES: [&str; 4] =
    ["codebase", "personal-assistant", "research-project", "team-runbook"];

#[test]
fn a_new_palace_has_rooms_and_genera_but_no_invented_entity_task_or_finding() {
    let home = Home::new();
    for template in EMPTY_TEMPLATES {
        let [_, said] = run(&home, &["init", template, "--template", template]);
        assert!(said.starts_with("Created "), "{said}");
        for folder in ["entities", "tasks"] {
            assert!(!home.path().join(template).join(folder).exists(), "{template}: {folder}");
        }
    }
    let [_, checked] = run(&home, &["check"]);
    assert_eq!(checked, "4 palaces, 33 rooms, 4 scrolls, 0 entities: 0 errors\n");
}

#[tokio::test]
async fn a_query_of_a_new_palace_that_finds_nothing_says_what_belongs_there() {
    let home = Home::new();
    run(&home, &["init", "Code", "--template", "codebase"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("Code").await;
    agent.choose(3).await;
    let fault = "Bug: A fault that taught something or that may return, named by what was seen.";
    let page = agent.choose(1).await;
    let expected = format!("No entities of genus Bug with status open.\n{fault}\n");
    assert!(page.contains(&expected), "{page}");
    let bug = json!({ "name": "The queue stops", "genus": "Bug", "status": "fixed" });
    agent.call("create_entities", json!({ "entities": [bug] })).await;
    let page = agent.choose(1).await;
    assert!(page.contains("No entities of genus Bug with status open.\n\nActions:"), "{page}");
    let timeline = agent.call("get_timeline", json!({ "genus": "Decision" })).await;
    assert!(timeline.contains("\nDecision: A choice that is hard to undo"), "{timeline}");
}

/// Creates a bare repository with the template in the folder `service`, and returns its URL.
fn create_template_repository(home: &Home) -> String {
    write_template_files(home, "../work/service");
    let work = |arguments: &[&str]| home.git(&[&["-C", "../work"], arguments].concat());
    work(&["init", "-q", "-b", "main"]);
    work(&["add", "."]);
    let ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    work(&[&ada[..], &["commit", "-qm", "one"]].concat());
    work(&["tag", "v1"]);
    home.write("../work/shop/palace.toml", "format = 1\nname = \"Shop\"\n");
    work(&["add", "."]);
    work(&[&ada[..], &["commit", "-qm", "two"]].concat());
    work(&["clone", "-q", "--bare", ".", "../templates.git"]);
    format!("file://{}", home.path().with_file_name("templates.git").display())
}

#[test]
fn a_template_in_a_bare_repository_becomes_a_palace_of_its_own() {
    let home = Home::new();
    let url = create_template_repository(&home);
    let init = |name: &str, place: &str| {
        let template = format!("{url}{place}");
        run(&home, &["init", name, "--template", &template, "--set", "project=Atlas"])
    };
    let [_, refused] = init("Watch", "");
    let several = format!("`{url}` contains several palaces: `service`, `shop`; choose one");
    assert!(refused.contains(&several), "{refused}");
    let [_, said] = init("Watch", "#:service");
    assert!(said.contains("allows its actions to call `update_entity`"), "{said}");
    let hall = home.read("watch/rooms/atlas-hall.yaml");
    assert!(hall.contains("name: Hall of Atlas\n"), "{hall}");
    assert!(!hall.contains("01KH1B52XCWPR7HNREBYABVDT7"), "{hall}");
    assert_eq!(home.commit_count(), 1);
    home.assert_clean_repository();

    let [_, said] = init("Old", "#v1");
    assert!(said.contains("Created Old in the git repository"), "{said}");
    let [_, refused] = init("New", "#nope");
    let unknown = format!("cannot fetch `nope` of `{url}`: `couldn't find remote ref nope`");
    assert!(refused.contains(&unknown), "{refused}");
    assert!(!home.path().join("new").exists());
}

#[test]
fn a_template_is_fetched_in_a_hook_of_git_and_its_folder_is_removed() {
    let home = Home::new();
    let url = create_template_repository(&home);
    let temporary = home.path().with_file_name("temporary");
    std::fs::create_dir(&temporary).unwrap();
    for (revision, is_fetched) in [("v1", true), ("v2", false)] {
        let mut init = home.palazzo_command(MARCH_1);
        init.args(["init", "Watch", "--set", "project=Atlas", "--template"]);
        init.arg(format!("{url}#{revision}")).env("TMPDIR", &temporary);
        let elsewhere = home.path().with_file_name("work").join(".git");
        init.env("GIT_INDEX_FILE", elsewhere.join("index")).env("GIT_DIR", elsewhere);
        let output = init.output().unwrap();
        assert_eq!(output.status.success(), is_fetched, "{output:?}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    }
    assert_eq!(home.git(&["-C", "../work", "for-each-ref", "refs/palazzo"]), "");
}

#[test]
fn without_git_a_url_is_refused_and_a_folder_works() {
    let home = Home::new();
    let url = create_template_repository(&home);
    let folder = home.path().with_file_name("work").join("service").display().to_string();
    let init = |template: &str| {
        let mut init = home.palazzo_command(MARCH_1);
        init.args(["init", "Watch", "--set", "project=Atlas", "--template", template]);
        let output = init.env("PATH", "/nowhere").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = init(&url);
    assert!(said.contains("git is not installed, or not in the PATH"), "{said}");
    assert_eq!(code, Some(2));
    assert_eq!(init(&folder).0, Some(0));
}

#[tokio::test]
async fn an_agent_creates_a_palace_from_a_named_template() {
    let home = Home::new();
    write_template(&home, "service");
    let mut agent = home.agent(MARCH_1).await;
    let create = |name: &str, template: &str| json!({ "workspace": name, "create": true, "template": template });
    let page = agent.call("set_workspace", create("Shop", "codebase")).await;
    assert!(page.contains("── Architecture Hall ──"), "{page}");
    let refused = agent.call("set_workspace", create("Watch", "service")).await;
    assert!(refused.contains("needs values: `project`"), "{refused}");
    let refused = agent.call("set_workspace", create("Watch", "../home/shop")).await;
    assert!(refused.contains("there is no template `../home/shop`"), "{refused}");
    let url = "file:///srv/service.git";
    let refused = agent.call("set_workspace", create("Watch", url)).await;
    assert!(refused.contains(&format!("there is no template `{url}`")), "{refused}");
    let without = json!({ "workspace": "Watch", "template": "codebase" });
    let refused = agent.call("set_workspace", without).await;
    assert!(refused.contains("give `create: true`"), "{refused}");
    agent.disconnect().await;
    assert!(!home.path().join("watch").exists());
    home.assert_clean_repository();
}
