//! Semantic search, in a palace that names a model.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// Words on the same line have the same meaning.
const SYNONYM_GROUPS: [&str; 4] =
    ["heron wader bird", "boiler heater furnace", "letter mail post", "memory palace"];

/// The dimension of a word vector.
const EMBEDDING_SIZE: usize = 8;

/// Writes a model with four meanings into the home. Its single layer adds nothing, so
/// the meaning of a text is that of its words.
fn write_model(home: &Home) {
    let mut words: Vec<(&str, Vec<f32>)> =
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(|it| (it, vec![0.0; EMBEDDING_SIZE])).to_vec();
    for (place, line) in SYNONYM_GROUPS.iter().enumerate() {
        let mut numbers = vec![0.0; EMBEDDING_SIZE];
        (numbers[2 * place], numbers[2 * place + 1]) = (1.0, -1.0);
        words.extend(line.split(' ').map(|it| (it, numbers.clone())));
    }
    let list: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let (mut header, mut numbers) = (Map::new(), Vec::<f32>::new());
    for (name, shape) in tensor_shapes(words.len()) {
        let from = 4 * numbers.len();
        match name.as_str() {
            "embeddings.word_embeddings.weight" => {
                numbers.extend(words.iter().flat_map(|(_, it)| it));
            }
            _ if name.ends_with("LayerNorm.weight") => numbers.extend([1.0; EMBEDDING_SIZE]),
            _ => numbers.resize(numbers.len() + shape.iter().product::<usize>(), 0.0),
        }
        let told =
            json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, 4 * numbers.len()] });
        header.insert(name, told);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
    home.write("../model/vocab.txt", &list.join("\n"));
    home.write("../model/config.json", r#"{"num_attention_heads": 2}"#);
    fs::write(home.path().join("../model/model.safetensors"), file).unwrap();
}

/// Lists the tensors of a BERT with one layer, with their shapes.
fn tensor_shapes(words: usize) -> Vec<(String, Vec<usize>)> {
    let layer = |part: &str| format!("encoder.layer.0.{part}");
    let mut tensors = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![words, EMBEDDING_SIZE]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![32, EMBEDDING_SIZE]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, EMBEDDING_SIZE]),
    ];
    let attention = ["self.query", "self.key", "self.value", "output.dense"];
    let attention = attention.map(|part| format!("attention.{part}"));
    for part in attention.iter().map(String::as_str).chain(["intermediate.dense", "output.dense"]) {
        tensors.push((layer(&format!("{part}.weight")), vec![EMBEDDING_SIZE, EMBEDDING_SIZE]));
        tensors.push((layer(&format!("{part}.bias")), vec![EMBEDDING_SIZE]));
    }
    for part in ["embeddings", &layer("attention.output"), &layer("output")] {
        tensors.push((format!("{part}.LayerNorm.weight"), vec![EMBEDDING_SIZE]));
        tensors.push((format!("{part}.LayerNorm.bias"), vec![EMBEDDING_SIZE]));
    }
    tensors
}

/// A palace with a model and three drawers.
fn write_palace(home: &Home) {
    home.run_palazzo(&["init", "w"]);
    for (path, text) in [
        ("home/cellar/2026-02-01.md", "The heater hissed all night."),
        ("home/hall/2026-02-02.md", "A post from Mabel, unopened."),
        ("marsh/reeds/2026-02-03.md", "One wader on one leg."),
    ] {
        home.write(&format!("w/drawers/{path}"), text);
    }
    let settings = home.read("w/palace.toml");
    home.write("w/palace.toml", &format!("{settings}\n[search]\nmodel = \"../../model\"\n"));
    home.git(&["add", "."]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "By hand"]);
}

fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    said.replace('\\', "/")
}

/// Searches drawers; returns the hits, and the ranker that found them.
async fn search_drawers(agent: &mut Agent, arguments: Value) -> String {
    let said = agent.call("mempalace_search", arguments).await;
    let said: Value = serde_json::from_str(&said).unwrap();
    let texts: Vec<_> = said["results"].as_array().unwrap().iter().map(|it| &it["text"]).collect();
    json!([texts, said["ranker"], said["remark"]]).to_string()
}

#[test]
fn a_text_without_the_query_words_is_found_after_embedding() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    assert_snapshot!(run(&home, &["search", "heron"]), @"
    Found by words alone: 3 passages not embedded yet
    nothing found
    ");
    assert_snapshot!(run(&home, &["embed"]), @"Passages embedded: 3; in all: 3.");
    assert_snapshot!(run(&home, &["search", "heron"]), @"
    One wader on one leg. (drawer in marsh/reeds, 2026-02-03, by Ada, by hand)
      home/w/drawers/marsh/reeds/2026-02-03.md
    Found by words and meaning
    ");
    assert_snapshot!(run(&home, &["search", "why did the furnace fail", "--format", "json"]), @r#"
    {
      "results": [
        {
          "kind": "drawer",
          "title": "The heater hissed all night.",
          "wing": "home",
          "room": "cellar",
          "written": "2026-02-01T00:00:00Z",
          "provenance": {
            "by": "Ada",
            "origin": "hand",
            "source": null,
            "changed_by": null,
            "synced": false
          },
          "passage": "The heater hissed all night.",
          "similarity": 1.0,
          "file": "home/w/drawers/home/cellar/2026-02-01.md"
        }
      ],
      "total": 1,
      "ranker": "words and meaning"
    }
    "#);
}

#[test]
fn unrelated_texts_are_not_found_in_a_small_palace() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    run(&home, &["embed"]);
    assert_snapshot!(run(&home, &["search", "heron", "--wing", "home"]), @"
    Found by words and meaning
    nothing found
    ");
    assert_snapshot!(run(&home, &["search", "gravel"]), @"
    Found by words alone
    nothing found
    ");
    home.write("w/drawers/marsh/reeds/2026-02-04.md", "No bird today.");
    assert_snapshot!(run(&home, &["search", "heron"]), @"
    One wader on one leg. (drawer in marsh/reeds, 2026-02-03, by Ada, by hand)
      home/w/drawers/marsh/reeds/2026-02-03.md
    Found by words and meaning: 1 passage not embedded yet
    ");
    assert_snapshot!(run(&home, &["embed"]), @"Passages embedded: 1; in all: 4.");
}

#[test]
fn embeddings_of_another_model_are_not_used() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    run(&home, &["embed"]);
    assert_snapshot!(run(&home, &["search", "wader"]), @"
    One wader on one leg. (drawer in marsh/reeds, 2026-02-03, by Ada, by hand)
      home/w/drawers/marsh/reeds/2026-02-03.md
    Found by words and meaning
    ");
    let words = home.read("../model/vocab.txt");
    let changed = words.replace("memory", "?").replace("letter", "memory").replace('?', "letter");
    home.write("../model/vocab.txt", &changed);
    assert_snapshot!(run(&home, &["search", "heron"]), @"
    Found by words alone: 3 passages not embedded yet
    nothing found
    ");
}

#[tokio::test]
async fn a_server_embeds_texts_in_the_background() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    let mut agent = home.agent_with(MARCH_1, &["--tools", "mempalace,palace"]).await;
    let found = loop {
        let found = search_drawers(&mut agent, json!({ "query": "heron" })).await;
        if !found.contains("not embedded yet") {
            break found;
        }
    };
    assert_snapshot!(found, @r#"[["One wader on one leg."],"words and meaning",null]"#);
    let drawer = json!({ "wing": "marsh", "room": "reeds", "content": "Counted a bird at dusk." });
    agent.call("mempalace_add_drawer", drawer).await;
    let found = loop {
        let asked = json!({ "query": "heron", "wing": "marsh" });
        let found = search_drawers(&mut agent, asked).await;
        if !found.contains("not embedded yet") {
            break found;
        }
    };
    assert_snapshot!(found, @r#"[["Counted a bird at dusk.","One wader on one leg."],"words and meaning",null]"#);
    agent.enter("w").await;
    agent.take_transcript();
    agent.choose_with(17, "heron kind:drawer").await;
    let said = agent.take_transcript();
    assert_snapshot!(said.split("\n\nActions:\n").next().unwrap(), @r#"
    > palace_action {"action":17,"params":"heron kind:drawer"}
    2 results for "heron kind:drawer":
      31. Counted a bird at dusk. (drawer in marsh/reeds, just now, by claude)
      32. One wader on one leg. (drawer in marsh/reeds, 2026-02-03, by Ada, by hand)
      Items with rare words: heron 0
    Found by words and meaning.

    Actions: 30 Open the drawers (1) · 0 map · 16 go to (params: room) · 17 search (params: words, one search a line) · 18 inventory · 19 write a scroll · 20 everything here
    "#);
}

#[tokio::test]
async fn entities_are_found_by_meaning_and_the_answer_names_the_ranker() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    for (file, name) in [("ardea", "Ardea, a wader"), ("boiler", "The boiler")] {
        let text = format!("name: {name}\ngenus: Thing\n");
        home.write(&format!("w/entities/thing/{file}.yaml"), &text);
    }
    run(&home, &["embed"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    agent.call("search_entities", json!({ "query": "heron" })).await;
    agent.call("search_entities", json!({ "query": "gravel" })).await;
    agent.call("list_entities", json!({})).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn without_a_usable_model_search_uses_words_only() {
    let home = Home::new();
    write_model(&home);
    write_palace(&home);
    let weights = home.path().join("../model/model.safetensors");
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..whole.len() / 2]).unwrap();
    assert_snapshot!(run(&home, &["check"]), @r#"
    home/w/palace.toml:5:9: warning[bad-model]: `embeddings.position_embeddings.weight` in `model.safetensors` has offsets outside the file or not matching its shape
      5 | model = "../../model"
        |         ^
    1 palace, 0 rooms, 0 scrolls, 0 entities, 3 drawers: 0 errors, 1 warning
    "#);
    let mut agent = home.agent_with(MARCH_1, &["--tools", "mempalace"]).await;
    assert_snapshot!(search_drawers(&mut agent, json!({ "query": "hissed" })).await, @r#"[["The heater hissed all night."],"words","`embeddings.position_embeddings.weight` in `model.safetensors` has offsets outside the file or not matching its shape"]"#);
    let header = 8 + usize::from(whole[0]) + 256 * usize::from(whole[1]);
    let none = f32::NAN.to_le_bytes().into_iter().cycle().take(whole.len() - header);
    fs::write(&weights, [&whole[..header], &none.collect::<Vec<_>>()].concat()).unwrap();
    assert_snapshot!(run(&home, &["embed"]), @"palazzo: `model.safetensors` cannot be used: some of its numbers are not finite");
    fs::remove_dir_all(home.path().join("../model")).unwrap();
    assert_snapshot!(run(&home, &["search", "hissed"]), @"
    The heater hissed all night. (drawer in home/cellar, 2026-02-01, by Ada, by hand)
      home/w/drawers/home/cellar/2026-02-01.md
    Found by words alone: there is no `model.safetensors` in `../../model`
    ");
    assert_snapshot!(run(&home, &["embed"]), @"palazzo: there is no `model.safetensors` in `../../model`");
}
