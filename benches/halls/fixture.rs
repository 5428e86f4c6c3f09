//! A palace with 100,000 entities, whose names are like those of people, program symbols and
//! catalogues.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use palazzo_core::model::Files;

use crate::common::BenchDir;

const TOPICS: [&str; 50] = [
    "Amber",
    "Basalt",
    "Catastrophism",
    "Coral",
    "Continental drift",
    "Chalk",
    "Dolomite",
    "Dust",
    "Erosion",
    "Eustasy",
    "Extinction",
    "Folding",
    "Gradualism",
    "Granite",
    "Glacial ice",
    "Gneiss",
    "Gypsum",
    "Heat flow",
    "Hot springs",
    "Iridium",
    "Island arcs",
    "Isostasy",
    "Karst",
    "Lava",
    "Limestone",
    "Loess",
    "Magma",
    "Marble",
    "Mass wasting",
    "Neptunism",
    "Ocean crust",
    "Oil shale",
    "Outwash",
    "Plate tectonics",
    "Plutonism",
    "Quartz",
    "Radiocarbon",
    "Rifting",
    "Sandstone",
    "Saltation",
    "Sediment",
    "Shale",
    "Stasis",
    "Strata",
    "Subduction",
    "Superposition",
    "Tuff",
    "Unconformity",
    "Uniformity",
    "Volcanism",
];
const VERBS: [&str; 20] = [
    "accounts for",
    "came before",
    "cannot explain",
    "depends on",
    "drives",
    "erases",
    "explains",
    "follows from",
    "hides",
    "is confused with",
    "is evidence of",
    "is independent of",
    "limits",
    "outlasts",
    "preserves",
    "records",
    "repeats",
    "slows down",
    "speeds up",
    "was older than",
];
const OBJECTS: [&str; 40] = [
    "the Cambrian boundary",
    "the Deccan traps",
    "the Great Dying",
    "the Messinian crisis",
    "the age of the earth",
    "the banding of gneiss",
    "the blueschist belts",
    "the breakup of Pangaea",
    "the closing of Tethys",
    "the dating of the Alps",
    "the end of the ice",
    "the fossil record",
    "the gaps in the strata",
    "the height of mountains",
    "the iron formations",
    "the lost ocean floor",
    "the magnetic stripes",
    "the mantle plumes",
    "the marine transgressions",
    "the missing heat",
    "the moraines of Jura",
    "the mud cracks",
    "the oldest crust",
    "the oxygen crisis",
    "the parallel roads",
    "the polar wander",
    "the raised beaches",
    "the reef terraces",
    "the ripple marks",
    "the salt domes",
    "the sea level curve",
    "the shape of coasts",
    "the snowball earth",
    "the spreading ridges",
    "the strength of rock",
    "the submerged canyons",
    "the varves of Sweden",
    "the water of the mantle",
    "the wear of pebbles",
    "the width of rings",
];
const FIRST_NAMES: [&str; 20] = [
    "Ada", "Agnes", "Charles", "Dorothea", "Emil", "Florence", "Georges", "Inge", "James", "Jean",
    "Johanna", "Karl", "Louis", "Marie", "Mary", "Otto", "Roderick", "Tanya", "William", "Xu",
];
const LAST_NAMES: [&str; 25] = [
    "Agassiz",
    "Anning",
    "Atwater",
    "Bascom",
    "Buckland",
    "Cuvier",
    "Darwin",
    "Gould",
    "Hess",
    "Hutton",
    "Lehmann",
    "Lyell",
    "Marcou",
    "Murchison",
    "Oreskes",
    "Playfair",
    "Sedgwick",
    "Shepard",
    "Smith",
    "Suess",
    "Tharp",
    "Vine",
    "Wegener",
    "Werner",
    "Wilson",
];
const PLACE_NAMES: [&str; 20] = [
    "Ångström",
    "Bærum",
    "Český Krumlov",
    "Dąbrowa",
    "Évora",
    "Füssen",
    "Göbekli",
    "Høyanger",
    "Łęczyca",
    "Málaga",
    "Nîmes",
    "Öland",
    "Plzeň",
    "Râmnicu",
    "São João",
    "Šibenik",
    "Trondheim",
    "Ústí",
    "Värmland",
    "Żywiec",
];
const KANJI: [char; 16] = [
    '山', '水', '石', '火', '風', '雲', '海', '島', '谷', '雪', '月', '春', '秋', '松', '竹', '梅',
];
const SMALL_GENERA: [&str; 13] = [
    "Archive",
    "Dataset",
    "Expedition",
    "Figure",
    "Instrument",
    "Lead",
    "Letter",
    "Map",
    "Method",
    "Note",
    "Question",
    "Quotation",
    "Theory",
];

/// The large genera with their numbers of entities.
const GENERA: [(&str, usize); 7] = [
    ("Claim", 40_000),
    ("Symbol", 20_000),
    ("Specimen", 15_000),
    ("Person", 10_000),
    ("Place", 5_000),
    ("Event", 3_000),
    ("作品", 2_000),
];

/// A home with one palace, in a git repository.
pub(crate) struct HallFixture {
    pub(crate) dir: BenchDir,
    /// The files of the palace.
    pub(crate) files: Files,
}

impl HallFixture {
    /// The rooms that show the graph, with their values of `generate`. The first is the entry.
    pub(crate) const ROOMS: [(&str, &str); 6] = [
        ("rotunda", "{ by: genus }"),
        ("claims", "{ genus: Claim, by: status }"),
        ("symbols", "{ genus: Symbol, by: language }"),
        ("specimens", "{ genus: Specimen, by: date }"),
        ("people", "{ genus: Person, by: name }"),
        ("events", "{ genus: Event, by: name }"),
    ];

    /// Creates a palace with 100,000 entities divided by `divisor`.
    pub(crate) fn new(divisor: usize) -> Self {
        let dir = BenchDir::new();
        fs::create_dir(dir.path().join("home")).expect("the folder is new");
        let fixture = Self { dir, files: palace_files(divisor) };
        fixture.run_git(&["init", "-q", "-b", "main"]);
        fixture.fast_import();
        fixture.run_git(&["reset", "-q", "--hard"]);
        fixture
    }

    /// Deletes all rooms.
    pub(crate) fn remove_rooms(&self) {
        fs::remove_dir_all(self.home().join("museum/rooms")).expect("the folder exists");
        fs::write(self.home().join("museum/palace.toml"), "name = \"Museum\"\n")
            .expect("the file is writable");
    }

    /// Returns the command that starts a server with this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Imports the whole palace into git as one commit.
    fn fast_import(&self) {
        let mut command = self.dir.isolated_command("git");
        command.arg("-C").arg(self.home()).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is installed");
        let mut input = child.stdin.take().expect("the pipe is open");
        let commit =
            "commit refs/heads/main\ncommitter Ada <ada@x> 1760000000 +0000\ndata 5\nBegin\n";
        input.write_all(commit.as_bytes()).expect("the pipe is open");
        for (path, text) in &self.files {
            let file = format!("M 100644 inline museum/{path}\ndata {}\n{text}\n", text.len());
            input.write_all(file.as_bytes()).expect("the pipe is open");
        }
        drop(input);
        assert!(child.wait().expect("git runs").success());
    }

    fn run_git(&self, arguments: &[&str]) {
        let mut command = self.dir.isolated_command("git");
        let status = command.arg("-C").arg(self.home()).args(arguments).status();
        assert!(status.expect("git is installed").success(), "git {arguments:?}");
    }
}

fn palace_files(divisor: usize) -> Files {
    let settings = "name = \"Museum\"\nentry = \"rotunda\"\n".to_owned();
    let mut files = Files::from([("palace.toml".to_owned(), settings)]);
    for (slug, generate) in HallFixture::ROOMS {
        let text = format!(
            "name: The {slug}\ndescription: |\n  A gallery runs round the wall, four floors of oak \
             drawers with brass tabs.\n  Whoever leans over the rail hears the pendulum below.\n\
             actions:\n- label: Read the plate at the foot of the stairs\n  type: text\n  \
             content: Put back what you take out.\ngenerate: {generate}\n"
        );
        files.insert(format!("rooms/{slug}.yaml"), text);
    }
    let small = SMALL_GENERA.into_iter().map(|genus| (genus, 385));
    for (folder, (genus, count)) in GENERA.into_iter().chain(small).enumerate() {
        for number in 0..count / divisor {
            let path = format!("entities/{folder:02}/{:02}/{number}.yaml", number / 500);
            files.insert(path, entity_yaml(genus, number));
        }
    }
    files
}

fn entity_yaml(genus: &str, number: usize) -> String {
    let (name, next) = (entity_name(genus, number), entity_name(genus, number + 1));
    let status = match (genus, number * 7 % 100) {
        ("Symbol" | "Person" | "Place" | "作品", _) => "",
        (_, ..60) => "status: open\n",
        (_, ..80) => "status: settled\n",
        (_, ..92) => "status: contested\n",
        _ => "status: refuted\n",
    };
    let languages = ["Rust", "C", "Go", "Haskell", "Zig"];
    let language = languages[number % 13 % 5];
    let attributes = match genus {
        "Symbol" => format!("attributes:\n  language: {language}\n"),
        _ => String::new(),
    };
    // Some years have no entity, and some days have a hundred.
    let time = 1_560_000_000_000 + (number as u64 * number as u64 % 977) * 211_000_000;
    let id = ulid::Ulid::from_parts(time, number as u128);
    format!(
        "id: {id}\nname: {name:?}\ngenus: {genus}\n{status}{attributes}observations:\n\
         - Number {number} of the old catalogue, as the label on the back says.\n\
         - It was lent twice and came back with another frame.\n\
         relations:\n- type: follows\n  to: {next:?}\n  since: 19{:02}\n",
        number % 100
    )
}

fn entity_name(genus: &str, number: usize) -> String {
    let pick = |words: &[&str], number: usize| words[number % words.len()].to_owned();
    match genus {
        "Claim" => {
            let (verb, object) = (pick(&VERBS, number / 50), pick(&OBJECTS, number / 1_000));
            format!("{} {verb} {object}", pick(&TOPICS, number))
        }
        "Symbol" => {
            let (module, kind) = (pick(&TOPICS, number), pick(&LAST_NAMES, number / 50));
            let module = module.to_lowercase().replace(' ', "_");
            format!(
                "{module}::{kind}::{}_{:02}",
                pick(&FIRST_NAMES, number).to_lowercase(),
                number / 1_250
            )
        }
        "Specimen" => format!("Specimen {}-{:05}", 1870 + number % 140, number),
        "Person" => {
            let (first, last) = (pick(&FIRST_NAMES, number), pick(&LAST_NAMES, number / 20));
            format!("{first} {}. {last}", middle_initials(number / 500))
        }
        "Place" => {
            format!(
                "{}, {} {}",
                pick(&PLACE_NAMES, number),
                pick(&PLACE_NAMES, number / 20),
                number / 400
            )
        }
        "Event" => {
            let hash = (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            let hex = format!("{hash:032x}");
            format!("{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..28])
        }
        "作品" => {
            let kanji = (0..4).map(|place| KANJI[number * 7 / 16_usize.pow(place) % 16]);
            format!("{}第{number}番", kanji.collect::<String>())
        }
        _ => format!("{genus} on {} no. {number}", pick(&OBJECTS, number)),
    }
}

/// Returns middle initials. They make the names of people unique.
fn middle_initials(number: usize) -> String {
    let letter =
        |number: usize| char::from(b'A' + u8::try_from(number % 26).expect("it is below 26"));
    match number {
        ..26 => letter(number).to_string(),
        _ => format!("{}{}", letter(number), letter(number / 26)),
    }
}
