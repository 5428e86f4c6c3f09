//! The graph tools: declared genera, renamed and merged entities, the timeline.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

const CLAIM_GENUS: &str = "\
# What we argue about.
name: Claim
plural: Claims
sentence: the claim \"{name}\"
attributes:
  proposed: date
  proposed_by: link to Person
  confidence: { type: [low, medium, high], required: true }
statuses:
  contested: [settled, overturned]
  settled: [contested]
  overturned: []
relations:
  disputed_by:
  held_by: single
";

const STASIS_ENTITY: &str = "\
# The heart of the matter.
genus: Claim
name: Stasis is data

status: contested   # ask again next year
attributes: { proposed_by: Stephen Jay Gould, confidence: medium }
relations:
- type:  disputed_by      # since the trilobites
  to:    'Gradualism'
  since: 1987
- {type: resembles, to: Gradualism,  source: nobody}
";

const GRADUALISM_ENTITY: &str = "\
name: Gradualism
genus: Claim
status: settled
attributes: { confidence: low }
observations:
  # In his own words.
  - Nature makes no leaps.
relations:
  - { type: disputed_by, to: Stasis is data }
";

const CABINET_ROOM: &str = "\
name: Cabinet
description: Drawers.
actions:
  # The lowest drawer sticks.
  - label: Pull the lowest drawer
    type: query
    tool: get_entity
    tool_params: {name: Gradualism}   # for now
  - {label: Pull them all, type: query, tool: list_entities, tool_params: {genus: Claim}}
";

/// A palace of hand-written files.
fn home_with_hand_written_survey() -> Home {
    let home = Home::new();
    home.write("survey/palace.toml", "format = 1\nname = \"Survey\"\n");
    home.write("survey/genera/claim.yaml", CLAIM_GENUS);
    home.write("survey/entities/claim/stasis-is-data.yaml", STASIS_ENTITY);
    home.write("survey/entities/claim/gradualism.yaml", GRADUALISM_ENTITY);
    home.write("survey/rooms/cabinet.yaml", CABINET_ROOM);
    let gould = "name: Stephen Jay Gould\ngenus: Person\n";
    home.write("survey/entities/person/stephen-jay-gould.yaml", gould);
    home.git(&["init", "-q", "-b", "main"]);
    commit_all(&home);
    home
}

fn commit_all(home: &Home) {
    home.git(&["add", "."]);
    let ada = ["-c", "user.name=ada", "-c", "user.email=ada@x"];
    home.git(&[ada[0], ada[1], ada[2], ada[3], "commit", "-qm", "By hand"]);
}

async fn update_entity(agent: &mut Agent, change: Value) -> String {
    agent.call("update_entity", change).await
}

#[tokio::test]
async fn tools_refuse_values_a_genus_does_not_allow_and_list_the_allowed_ones() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let commits = home.commit_count();
    let claim = |more: Value| {
        let mut claim = json!({ "name": "Drift", "genus": "Claim" });
        claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "entities": [{ "name": "Wegener", "genus": "Person" }, claim] })
    };
    agent.call("create_entities", claim(json!({}))).await;
    let wrong = json!({ "status": "setled", "attributes": { "confidence": "sure", "proposed": "long ago" } });
    agent.call("create_entities", claim(wrong)).await;
    let wrong = json!({ "attributes": { "confidence": "low", "proposed_by": "Gradualism" } });
    agent.call("create_entities", claim(wrong)).await;
    update_entity(&mut agent, json!({ "name": "gradualism", "status": "overturned" })).await;
    update_entity(
        &mut agent,
        json!({ "name": "Gradualism", "attributes": { "confidence": null } }),
    )
    .await;
    assert_eq!(home.commit_count(), commits);
    let fine = json!({ "attributes": { "confidence": "low", "proposed": "1912-01-06", "proposed_by": "Wegener" } });
    agent.call("create_entities", claim(fine)).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "status": "contested" })).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "status": "overturned" })).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "status": "settled" })).await;
    assert_snapshot!(agent.take_transcript());
    assert!(home.read("survey/entities/claim/drift.yaml").contains("status: contested\n"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn two_periods_of_a_relation_coexist_and_change_separately() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let rules = |terms: Value| {
        let mut rules = json!({ "type": "rules", "to": "Rome" });
        rules.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
        rules
    };
    let karl = |key: &str, terms: Value| json!({ "name": "Karl", key: [rules(terms)] });
    let (add, remove) = ("add_relations", "remove_relations");
    let first = rules(json!({ "since": "2001", "until": "2005" }));
    let new = json!([{ "name": "Karl", "genus": "Person", "relations": [first] }, { "name": "Rome", "genus": "City" }]);
    agent.call("create_entities", json!({ "entities": new })).await;
    update_entity(&mut agent, karl(add, json!({ "since": "2010" }))).await;
    update_entity(&mut agent, karl(add, json!({ "until": "2012", "since": "2010" }))).await;
    update_entity(&mut agent, karl(add, json!({}))).await;
    update_entity(&mut agent, karl(add, json!({ "since": "2004" }))).await;
    update_entity(&mut agent, karl(remove, json!({ "since": "2002" }))).await;
    update_entity(&mut agent, karl(remove, json!({ "since": "2001" }))).await;
    agent.call("get_relationships", json!({ "name": "Karl" })).await;
    update_entity(&mut agent, karl(remove, json!({}))).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn invalid_dates_are_refused_and_all_of_them_listed() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let saw = |since: Value, until: Value| json!({ "type": "saw", "to": "Comet", "since": since, "until": until });
    let ida = |name: &str, relations: Vec<Value>| json!({ "name": name, "genus": "Person", "relations": relations });
    let wrong = [
        ida("Ida", vec![saw("768".into(), Value::Null), saw("2020".into(), 2010.into())]),
        ida("Eva", vec![saw("44-03-15 BC".into(), Value::Null)]),
        json!({ "name": "Drift", "genus": "Claim", "attributes": { "confidence": "low", "proposed": 768 } }),
    ];
    agent.call("create_entities", json!({ "entities": wrong })).await;
    let fine = [ida("Ida", vec![saw("15 March 44 BC".into(), "yesterday".into())])];
    agent.call("create_entities", json!({ "entities": fine })).await;
    let add = |relation: Value| json!({ "name": "Ida", "add_relations": [relation] });
    update_entity(&mut agent, add(saw(Value::Null, "45 BC".into()))).await;
    update_entity(&mut agent, add(saw("today".into(), "some day".into()))).await;
    update_entity(&mut agent, add(saw("today".into(), Value::Null))).await;
    agent.call("get_relationships", json!({ "name": "Ida", "as_of": "now" })).await;
    agent.call("get_timeline", json!({ "since": "2026", "until": "tomorrow" })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn a_relation_with_invalid_dates_holds_at_no_date() {
    let home = home_with_hand_written_survey();
    let karl = "name: Karl\ngenus: Person\nrelations:\n\
        - { type: rules, to: Franks, since: 768, until: 814 }\n\
        - { type: rules, to: Lombards, since: 0774, until: 0814 }\n\
        - { type: rules, to: Rome, since: 2020, until: 2010 }\n\
        - { type: likes, to: Honey, since: his youth }\n";
    home.write("survey/entities/person/karl.yaml", karl);
    commit_all(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    agent.call("get_relationships", json!({ "name": "Karl", "as_of": "1950" })).await;
    agent.call("get_relationships", json!({ "name": "Karl", "as_of": "0800" })).await;
    agent.call("get_timeline", json!({ "entity": "Karl" })).await;
    let source = json!({ "type": "likes", "to": "Honey", "source": "Einhard" });
    update_entity(&mut agent, json!({ "name": "Karl", "add_relations": [source] })).await;
    assert_snapshot!(agent.take_transcript());
    let said = |arguments: &[&str]| {
        let output =
            home.palazzo_command(MARCH_1).current_dir(home.path()).args(arguments).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_snapshot!(said(&["check", "survey"]));
    let facts = said(&["wake-up", "survey"]);
    assert!(facts.contains("Karl → likes → Honey"), "{facts}");
    assert!(!facts.contains("Karl → rules"), "{facts}");
    let merged = json!({ "name": "Stephen Jay Gould", "merge": ["Karl"] });
    let told = update_entity(&mut agent, merged).await;
    assert!(told.starts_with("Merged Karl into \"Stephen Jay Gould\": relation rules"), "{told}");
}

#[tokio::test]
async fn genus_spelling_is_normalized_and_case_variants_of_names_are_reported() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let new = |name: &str, genus: &str| json!({ "name": name, "genus": genus, "attributes": { "confidence": "low" } });
    let create = |new: Value| json!({ "entities": new });
    agent
        .call("create_entities", create(json!([new("Drift", "claim"), new("drift", "PERSON")])))
        .await;
    agent.call("create_entities", create(json!([new("A", "Rock"), new("B", "rock")]))).await;
    update_entity(&mut agent, json!({ "name": "A", "genus": "person" })).await;
    update_entity(&mut agent, json!({ "name": "A", "new_name": "gradualism" })).await;
    agent.call("list_genera", json!({})).await;
    agent.call("create_entities", create(json!([new(" ", "Claim")]))).await;
    agent.call("create_entities", create(json!([new("C", "")]))).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn an_attribute_unknown_to_the_genus_is_accepted_with_a_warning() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let slip = json!({ "name": "Drift", "genus": "Claim", "attributes": { "confidence": "low", "propsed": "1912", "mood": "bad" } });
    agent.call("create_entities", json!({ "entities": [slip] })).await;
    update_entity(&mut agent, json!({ "name": "Drift", "attributes": { "mood": "good" } })).await;
    let slip = json!({ "name": "Stephen Jay Gould", "attributes": { "mood": "good" } });
    update_entity(&mut agent, slip).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn building_a_room_grouped_by_a_missing_attribute_warns() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let room = |generate: Value| {
        json!({ "slug": "loft", "name": "Loft", "description": "Dusty.", "entry": true,
            "actions": [], "portals": ["cabinet"], "generate": generate, "quiet": true })
    };
    for generate in [
        json!({ "genus": "Clam" }),
        json!({ "genus": "Claim", "by": "confidnce" }),
        json!({ "genus": "Claim", "by": "confidence" }),
        json!({ "genus": "Claim", "by": "proposed" }),
    ] {
        agent.call("build_room", room(generate)).await;
    }
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn restoring_an_entity_restores_the_relations_to_it() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    let related = json!({ "name": "Stephen Jay Gould", "add_relations": [
        { "type": "denies", "to": "Gradualism", "since": "1972" }, { "type": "met", "to": "Stasis is data" }] });
    update_entity(&mut agent, related).await;
    agent.call("delete_entities", json!({ "names": ["Gradualism"] })).await;
    agent.call("delete_entities", json!({ "names": ["Stasis is data"] })).await;
    agent.take_transcript();
    let restore = ["restore", "Gradualism", "--to", "HEAD~2", "--workspace", "survey"];
    let output =
        home.palazzo_command(MARCH_1).current_dir(home.path()).args(restore).output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let came = "gradualism.yaml, with 1 relation from other entities; left out 2 relations \
        from entities that do not exist\n";
    assert!(told.ends_with(came), "{told}");
    agent.call("get_relationships", json!({ "name": "Stephen Jay Gould" })).await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_filter_without_matches_suggests_the_nearest_value() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    agent.call("list_entities", json!({ "genus": "Claim", "status": "setled" })).await;
    agent.call("list_entities", json!({ "attributes": { "confidense": "low" } })).await;
    agent.call("list_entities", json!({ "status": "overturned" })).await;
    agent.call("list_entities", json!({ "genus": "Claim", "page": 9 })).await;
    agent
        .call("get_relationships", json!({ "name": "Stasis is data", "type": "disputedby" }))
        .await;
    agent.call("get_relationships", json!({ "name": "Stasis is data", "type": "knows" })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn tools_can_repair_a_faulty_entity_one_value_at_a_time() {
    let home = home_with_hand_written_survey();
    let wrong = "name: Drift\ngenus: Claim\nstatus: mooted\nattributes: { proposed: soon }\n";
    home.write("survey/entities/claim/drift.yaml", wrong);
    commit_all(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    update_entity(&mut agent, json!({ "name": "Drift", "add_observations": ["It moves."] })).await;
    update_entity(&mut agent, json!({ "name": "Drift", "status": "mooted again" })).await;
    update_entity(&mut agent, json!({ "name": "Drift", "status": "settled" })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn renaming_an_entity_updates_every_file_and_keeps_its_formatting() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let name = json!({ "name": "gradualism", "new_name": "Phyletic gradualism" });
    update_entity(&mut agent, name).await;
    agent.call("get_entity", json!({ "name": "Phyletic gradualism" })).await;
    agent.choose(1).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "new_name": "X" })).await;
    let taken = json!({ "name": "Phyletic gradualism", "new_name": "Stasis is data" });
    update_entity(&mut agent, taken).await;
    update_entity(&mut agent, json!({ "name": "Stasis is data", "new_name": " " })).await;
    let person = json!({ "name": "Stephen Jay Gould", "new_name": "S. J. Gould" });
    update_entity(&mut agent, person).await;
    assert_snapshot!(agent.take_transcript());
    let show = ["show", "HEAD~1", "--format=%an: %s%n%n%b", "-M", "-U1"];
    assert_snapshot!(
        home.git(&show)
            .lines()
            .filter(|it| !it.starts_with("index "))
            .collect::<Vec<_>>()
            .join("\n")
    );
    assert!(
        home.read("survey/entities/claim/stasis-is-data.yaml")
            .contains("proposed_by: S. J. Gould,")
    );
    home.assert_clean_repository();
}

#[tokio::test]
async fn merging_entities_reports_conflicting_values() {
    let home = home_with_hand_written_survey();
    let uniformity = "\
name: Uniformity
genus: Doctrine
attributes: { confidence: high, proposed: 1830 }
observations:
  - Nature makes no leaps.
  - The present is the key to the past.
relations:
  - { type: resembles, to: Gradualism }
  - { type: disputed_by, to: Stasis is data, source: Gould 1965 }
  - { type: held_by, to: Stephen Jay Gould, until: 1965 }
";
    home.write("survey/entities/old/what-lyell-said.yaml", uniformity);
    let stasis = home.read("survey/entities/claim/stasis-is-data.yaml");
    let stasis = stasis + "- {type: resembles, to: Uniformity}  # as some say\n";
    home.write("survey/entities/claim/stasis-is-data.yaml", &stasis);
    commit_all(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    update_entity(&mut agent, json!({ "name": "Gradualism", "merge": ["Gradualism"] })).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "merge": ["Uniformitarianism"] }))
        .await;
    let commits = home.commit_count();
    update_entity(&mut agent, json!({ "name": "Gradualism", "merge": ["uniformity"] })).await;
    assert_eq!(home.commit_count(), commits + 1);
    agent.call("get_entity", json!({ "name": "Gradualism" })).await;
    agent.call("get_entity", json!({ "name": "Stasis is data" })).await;
    update_entity(&mut agent, json!({ "name": "Gradualism", "merge": ["uniformity"] })).await;
    assert_snapshot!(agent.take_transcript());
    assert_snapshot!(home.git(&["show", "--format=%s%n%n%b", "--stat"]));
    assert_snapshot!(home.read("survey/entities/claim/stasis-is-data.yaml"));
    home.assert_clean_repository();
}

#[tokio::test]
async fn an_entity_is_found_after_its_file_moves() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    // In the order of their names, the new file is read before the old one is removed.
    home.git(&["mv", "survey/entities/claim/gradualism.yaml", "survey/entities/a.yaml"]);
    commit_all(&home);
    let seen = agent.call("get_entity", json!({ "name": "Gradualism" })).await;
    assert!(seen.starts_with("── Gradualism ──"), "{seen}");
    agent.call("update_entity", json!({ "name": "Gradualism", "new_name": "Slow change" })).await;
    assert!(home.read("survey/entities/a.yaml").starts_with("name: Slow change\n"));
}

/// Two lives and a book.
fn historical_entities() -> Value {
    json!({ "entities": [
        { "name": "James Hutton", "genus": "Geologist",
          "attributes": { "born": "1726-06-14", "died": "1797-03-26", "children": 1 },
          "relations": [
              { "type": "read_to", "to": "Royal Society of Edinburgh", "since": "1785-03-07" },
              { "type": "farmed_at", "to": "Slighhouses", "since": "1754", "until": "1767" },
          ] },
        { "name": "Hannibal", "genus": "General",
          "attributes": { "born": "-0246", "elephants": "37" },
          "relations": [
              { "type": "won_at", "to": "Cannae", "since": "-0215-08-02", "until": "-0215-08-03" },
              { "type": "lived_in", "to": "Carthage", "since": "247 BC", "until": "238 BC" },
              { "type": "lived_in", "to": "Gades", "since": "238 BC" },
          ] },
        { "name": "Theory of the Earth", "genus": "Book", "attributes": { "published": 1788 },
          "relations": [{ "type": "written_by", "to": "James Hutton", "since": "1785" }] },
    ] })
}

#[tokio::test]
async fn the_timeline_is_in_date_order_including_years_bc() {
    let home = Home::new();
    home.write("past/palace.toml", "format = 1\nname = \"Past\"\n");
    home.write("past/genera/book.yaml", "name: Book\nattributes: { published: date }\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("past").await;
    agent.call("create_entities", historical_entities()).await;
    let hannibal = "past/entities/general/hannibal.yaml";
    let gades = "to: Gades\n    since: 238 BC\n";
    assert!(home.read(hannibal).contains(gades));
    let in_his_youth =
        home.read(hannibal).replace(gades, &format!("{gades}    until: in his youth\n"));
    home.write(hannibal, &in_his_youth);
    agent.take_transcript();
    agent.call("get_timeline", json!({})).await;
    agent.call("get_timeline", json!({ "entity": "james hutton" })).await;
    agent
        .call("get_timeline", json!({ "since": "300 BC", "until": "-0236", "genus": "general" }))
        .await;
    agent.call("get_timeline", json!({ "since": 1785, "until": "1785-03-07" })).await;
    agent.call("get_timeline", json!({ "since": "the war" })).await;
    agent.call("get_relationships", json!({ "name": "Hannibal", "as_of": "-0239-06" })).await;
    agent
        .call(
            "get_relationships",
            json!({ "name": "Hannibal", "as_of": "238 BC", "type": "lived_in" }),
        )
        .await;
    agent.call("get_relationships", json!({ "name": "Cannae", "as_of": "1972" })).await;
    agent.call("get_entity", json!({ "name": "Hannibal" })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn long_timelines_and_relation_lists_are_paged() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    let year = |it: usize| {
        json!({ "name": format!("Year {it}"), "genus": "Year",
        "relations": [{ "type": "follows", "to": "The Flood", "since": format!("{}", 1000 + it) }] })
    };
    let years: Vec<_> = (0..70).map(year).collect();
    agent.call("create_entities", json!({ "entities": years })).await;
    let first = agent.call("get_timeline", json!({})).await;
    assert!(first.starts_with("Dated facts (page 1):\n  31. 1000 · Year 0: follows"), "{first}");
    assert!(
        first.ends_with(
            "  60. 1029 · Year 29: follows → The Flood (997 years)\n  page: 2 shows the next\n"
        ),
        "{first}"
    );
    let last =
        agent.call("get_timeline", json!({ "page": 3, "entity": "Year 1", "genus": "Year" })).await;
    assert_eq!(last, "No more dated facts of Year 1 of genus Year.\n");
    let last = agent.call("get_timeline", json!({ "page": 3 })).await;
    assert_eq!(last.lines().count(), 11, "{last}");
    let flood = json!({ "entities": [{ "name": "The Flood", "genus": "Event" }] });
    agent.call("create_entities", flood).await;
    let first = agent.call("get_relationships", json!({ "name": "the flood" })).await;
    assert!(
        first.starts_with("The Flood, 70 relations\nRelations:\n  follows ← Year 0 "),
        "{first}"
    );
    assert!(first.ends_with("page: 2 shows the next\n"), "{first}");
    let last = agent.call("get_relationships", json!({ "name": "The Flood", "page": 2 })).await;
    assert_eq!(last.lines().count(), 22, "{last}");
    let whole = agent.call("get_entity", json!({ "name": "The Flood" })).await;
    assert!(
        whole.ends_with(
            "  and 20 incoming relations more\nget_entity with page: 2 shows the next\n"
        ),
        "{whole}"
    );
}

#[tokio::test]
async fn a_large_entity_is_read_page_by_page() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let saw: Vec<_> = (1..=84).map(|it| format!("Day {it}: it rained.")).collect();
    let to: Vec<_> =
        (1..=51).map(|it| json!({ "type": "drowned", "to": format!("Hill {it}") })).collect();
    let flood = json!({ "name": "The Flood", "genus": "Event", "attributes": { "year": "long ago" },
        "observations": saw, "relations": to });
    let hills = (1..=51).map(|it| json!({ "name": format!("Hill {it}"), "genus": "Hill" }));
    let entities: Vec<_> = hills.chain([flood]).collect();
    agent.call("create_entities", json!({ "entities": entities })).await;
    agent.take_transcript();

    let first = agent.call("get_entity", json!({ "name": "The Flood" })).await;
    let told: Vec<_> = first.lines().collect();
    assert_eq!(
        told[1..5],
        [
            "Event · created just now · page 1 of 2",
            "  year: long ago",
            "Observations:",
            "  - Day 1: it rained."
        ]
    );
    assert_eq!(
        told[53..56],
        ["  - Day 50: it rained.", "  and 34 observations more", "Relations:"]
    );
    assert!(
        first.ends_with("  and 1 relation more\nget_entity with page: 2 shows the next\n"),
        "{first}"
    );
    agent.take_transcript();
    agent.call("get_entity", json!({ "name": "The Flood", "page": 2 })).await;
    agent.call("get_entity", json!({ "name": "The Flood", "page": 3 })).await;
    agent.call("get_entity", json!({ "name": "The Flood", "page": 0 })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn entities_can_be_filtered_by_attributes() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    agent.call("list_entities", json!({ "attributes": { "confidence": "LOW" } })).await;
    agent
        .call(
            "search_entities",
            json!({ "query": "data leaps", "attributes": { "confidence": "medium" } }),
        )
        .await;
    let none =
        json!({ "genus": "claim", "status": "settled", "attributes": { "confidence": "medium" } });
    agent.call("list_entities", none).await;
    agent.call("list_genera", json!({})).await;
    agent.call("list_genera", json!({ "genus": "claim" })).await;
    agent.call("list_genera", json!({ "genus": "Person" })).await;
    agent.call("list_genera", json!({ "genus": "Planet" })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn a_room_shows_notices_about_its_faulty_entities() {
    let home = home_with_hand_written_survey();
    let hut = "name: Hut\ndescription: Planks.\nactions: []\n";
    home.write("survey/rooms/hut.yaml", hut);
    home.write("survey/palace.toml", "format = 1\nname = \"Survey\"\nentry = \"hut\"\n");
    let drift = "name: Drift\ngenus: Claim\nstatus: mooted\nrelations:\n\
        - { type: held_by, to: Wegener, since: 1912 }\n- { type: held_by, to: Stephen Jay Gould, since: 1965 }\n";
    home.write("survey/entities/claim/drift.yaml", drift);
    commit_all(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    let mut told = String::new();
    for (tool, arguments) in [
        ("list_genera", json!({})),
        (
            "create_entities",
            json!({ "entities": [{ "name": "Wegener", "genus": "Person" },
            { "name": "Book", "genus": "Thing", "relations": [{ "type": "by", "to": "Lyel" }] }] }),
        ),
        (
            "update_entity",
            json!({ "name": "Drift", "status": "settled", "attributes": { "confidence": "high" } }),
        ),
        ("delete_entities", json!({ "names": ["stephen jay gould", "Nobody"] })),
        ("get_entity", json!({ "name": "Drift" })),
        ("delete_entities", json!({ "names": ["Book"] })),
    ] {
        let said = agent.call(tool, arguments).await;
        let said = said.lines().filter(|it| !it.starts_with("  ")).collect::<Vec<_>>().join("\n");
        told.push_str(&format!("> {tool}\n{said}\n"));
        for room in ["hut", "cabinet"] {
            let page = agent.choose_with(16, room).await;
            let notices = page.split_once("Notices:\n").map_or("-\n", |(_, it)| it);
            told.push_str(&format!("{room}: {}", notices.trim_start()));
        }
    }
    assert_snapshot!(told);
}

#[tokio::test]
async fn actions_naming_missing_entities_are_reported_on_building_and_deleting() {
    let home = home_with_hand_written_survey();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    agent.take_transcript();
    let ask = |tool: &str, params: Value| json!({ "label": tool, "type": "query", "tool": tool, "tool_params": params });
    let mut actions = [
        ask("get_entity", json!({ "name": "gradualism " })),
        ask("get_entity", json!({ "name": "Ghosty" })),
        ask("get_entity", json!({ "name": "{params}" })),
        ask("list_entities", json!({ "genus": "claim" })),
        ask("list_entities", json!({ "genus": "Ghost" })),
    ];
    for (number, action) in (1..).zip(&mut actions) {
        action["label"] = json!(format!("Ask {number}"));
    }
    let den = json!({ "slug": "den", "name": "Den", "description": "Dim.", "actions": actions });
    agent.call("build_room", den).await;
    agent.call("create_task", json!({ "title": "Doubt it", "entity": "Gradualism" })).await;
    agent.call("delete_entities", json!({ "names": ["Gradualism", "Stephen Jay Gould"] })).await;
    assert_snapshot!(agent.take_transcript());
    let mut check = home.palazzo_command(MARCH_1);
    let checked = check.current_dir(home.path()).args(["check", "survey"]).output();
    let checked = String::from_utf8(checked.unwrap().stdout).unwrap();
    let of_den: Vec<_> = checked.lines().filter(|it| it.contains("den.yaml")).collect();
    assert_snapshot!(of_den.join("\n"), @"
    survey/rooms/den.yaml:1:1: warning[unreachable]: this room cannot be reached from the entry
    survey/rooms/den.yaml:11:13: info[undefined-entity]: there is no entity `gradualism ` yet
    survey/rooms/den.yaml:16:13: info[undefined-entity]: there is no entity `Ghosty` yet
    survey/rooms/den.yaml:31:14: info[undefined-genus]: no entity has the genus `Ghost`, and no genus file defines it
    ");
}

#[tokio::test]
async fn workspace_and_hall_pages_stay_below_their_token_limit_in_any_script() {
    let tokens = palazzo_core::token_estimate::estimate_token_count;
    let mut seed = 7_u32;
    let mut any = |from: u32, many: u32, letters: usize| -> String {
        let letter = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_u32(from + (seed >> 8) % many).unwrap()
        };
        std::iter::repeat_with(letter).take(letters).collect()
    };
    for (from, many) in [(0x4e00, 20_000), (0x1200, 300), (0x1f300, 600), (0x430, 32)] {
        let home = Home::new();
        let mut agent = home.agent(MARCH_1).await;
        agent
            .call("set_workspace", json!({ "workspace": any(from, many, 37), "create": true }))
            .await;
        let entities: Vec<_> = (0..500)
            .map(|_| json!({ "name": any(from, many, 60), "genus": any(from, many, 60) }))
            .collect();
        agent.call("create_entities", json!({ "entities": entities })).await;
        for entity in &entities[..4] {
            let rename = json!({ "name": entity["name"], "new_name": any(from, many, 37) });
            agent.call("update_entity", rename).await;
        }
        let told = agent.call("describe_workspace", json!({})).await;
        assert!((60..300).contains(&tokens(&told)), "{} tokens: {told}", tokens(&told));
        for _ in 0..3 {
            let hall = agent.choose(1).await;
            assert!((20..500).contains(&tokens(&hall)), "{} tokens: {hall}", tokens(&hall));
        }
    }
}

#[tokio::test]
async fn arguments_are_read_as_careless_clients_send_them() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "notes", "create": true })).await;
    let ada =
        r#"[{ "name": "Ada", "genus": "Person", "status": "alive", "observations": "Wrote." }]"#;
    let said = agent.call("create_entities", json!({ "entities": ada, "toolCallId": "7" })).await;
    assert_eq!(said.lines().next().unwrap(), "Created Ada.");
    let blank = json!({ "genus": "", "status": " ", "attributes": "", "page": "" });
    assert_eq!(agent.call("list_entities", blank).await.lines().next(), Some("1 entity:"));
    let said = agent.call("get_entity", json!({ "names": "Ada" })).await;
    assert!(said.contains("  - Wrote.\n"), "{said}");
    let said = agent.call("update_entity", json!({ "name": "Ada", "status": "" })).await;
    assert_eq!(said.lines().next().unwrap(), "Changed Ada: status alive → none.");
    let blanks = json!({ "workspace": "notes", "as_of": "", "template": " ", "create": "" });
    assert!(!agent.call("set_workspace", blanks).await.starts_with("refused"));
    let blanks = json!({ "slug": "hall", "name": "Hall", "description": "Stone.", "actions": [],
        "wing": "", "rename": "" });
    assert!(!agent.call("build_room", blanks).await.starts_with("refused"));
    let blanks = json!({ "title": "T", "body": "B", "room": " " });
    assert!(!agent.call("write_scroll", blanks).await.starts_with("refused"));
    let said = agent.call("list_entities", json!({ "statsu": "" })).await;
    assert!(said.contains("unknown field `statsu`"), "{said}");
    agent.disconnect().await;
}
