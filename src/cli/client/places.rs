//! Where clients keep their configuration, and whether a client is installed.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::cli::client::Client;
use crate::cli::user_folders::env_path;

/// The operating systems that clients distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Platform {
    Unix,
    MacOs,
    Windows,
}

/// The folders of the user, as the variables of the environment name them.
#[derive(Clone, Debug)]
pub(in crate::cli) struct UserFolders {
    platform: Platform,
    home: PathBuf,
    /// The folder for configurations of the XDG specification, which some clients use on all
    /// systems.
    xdg_config: PathBuf,
    /// The folder in which desktop programs keep their data.
    programs: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    gemini: Option<PathBuf>,
    goose: Option<PathBuf>,
    /// The folders with programs.
    path: Vec<PathBuf>,
}

impl UserFolders {
    /// Finds the folders; `None` if the home of the user is unknown.
    pub(in crate::cli) fn from_env() -> Option<Self> {
        let absolute = |it: PathBuf| std::path::absolute(&it).unwrap_or(it);
        let absolute_path = |name: &str| env_path(name).map(absolute);
        let home = absolute_path("HOME").or_else(|| absolute_path("USERPROFILE"))?;
        let platform = match (cfg!(windows), cfg!(target_os = "macos")) {
            (true, _) => Platform::Windows,
            (_, true) => Platform::MacOs,
            _ => Platform::Unix,
        };
        let xdg_config = env_path("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
        let xdg_config = xdg_config.unwrap_or_else(|| home.join(".config"));
        let programs = match platform {
            Platform::Windows => {
                absolute_path("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
            }
            Platform::MacOs => home.join("Library/Application Support"),
            Platform::Unix => xdg_config.clone(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        Some(Self {
            platform,
            xdg_config,
            programs,
            claude: absolute_path("CLAUDE_CONFIG_DIR"),
            codex: absolute_path("CODEX_HOME"),
            gemini: absolute_path("GEMINI_CLI_HOME"),
            goose: absolute_path("GOOSE_PATH_ROOT"),
            path: std::env::split_paths(&path).collect(),
            home,
        })
    }

    /// Returns the file with the settings of Claude Code for all projects.
    pub(in crate::cli) fn claude_settings(&self) -> PathBuf {
        let folder = self.claude.clone().unwrap_or_else(|| self.home.join(".claude"));
        folder.join("settings.json")
    }

    /// Returns a path for a person, with `~` for the home.
    pub(in crate::cli) fn abbreviate(&self, file: &Path) -> String {
        match file.strip_prefix(&self.home) {
            Ok(below) => format!("~{MAIN_SEPARATOR}{}", below.display()),
            Err(_) => file.display().to_string(),
        }
    }
}

impl Client {
    /// Returns the configuration file of the user; `None` if its place is not known.
    pub(in crate::cli) fn user_file(self, folders: &UserFolders) -> Option<PathBuf> {
        let UserFolders { home, xdg_config, programs, .. } = folders;
        let in_home = |variable: &Option<PathBuf>, name: &str| match variable {
            Some(folder) => folder.clone(),
            None => home.join(name),
        };
        Some(match self {
            Self::ClaudeCode => in_home(&folders.claude, "").join(".claude.json"),
            Self::ClaudeDesktop => programs.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => programs.join("Code/User/mcp.json"),
            Self::Codex => in_home(&folders.codex, ".codex").join("config.toml"),
            Self::Gemini => in_home(&folders.gemini, "").join(".gemini/settings.json"),
            Self::Zed if folders.platform == Platform::Windows => {
                programs.join("Zed/settings.json")
            }
            Self::Zed if folders.platform == Platform::MacOs => {
                home.join(".config/zed/settings.json")
            }
            Self::Zed => xdg_config.join("zed/settings.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Opencode => {
                let file = |name: &str| xdg_config.join("opencode").join(name);
                // The later of the two files wins, so that an entry in the other could be hidden.
                let jsonc = Some(file("opencode.jsonc")).filter(|it| it.exists());
                jsonc.unwrap_or_else(|| file("opencode.json"))
            }
            Self::Goose => match (&folders.goose, folders.platform) {
                (Some(root), _) => root.join("config/config.yaml"),
                (None, Platform::Windows) => programs.join("Block/goose/config/config.yaml"),
                (None, _) => xdg_config.join("goose/config.yaml"),
            },
            Self::LmStudio | Self::Lsp => return None,
        })
    }

    /// Returns the file with the instructions of the user for all projects, if `setup` offers to add
    /// a line there.
    pub(in crate::cli) fn instructions_file(self, folders: &UserFolders) -> Option<PathBuf> {
        match self {
            Self::ClaudeCode => Some(folders.claude_settings().with_file_name("CLAUDE.md")),
            Self::Codex => Some(self.user_file(folders)?.with_file_name("AGENTS.md")),
            _ => None,
        }
    }

    /// Returns whether the place of the user's configuration file is known.
    pub(in crate::cli) fn has_user_file(self) -> bool {
        !matches!(self, Self::LmStudio | Self::Lsp)
    }

    /// Returns the configuration file of a project, inside its folder.
    pub(in crate::cli) fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::Vscode => Some(".vscode/mcp.json"),
            Self::Codex => Some(".codex/config.toml"),
            Self::Gemini => Some(".gemini/settings.json"),
            Self::Zed => Some(".zed/settings.json"),
            Self::Opencode => Some("opencode.json"),
            Self::ClaudeDesktop | Self::Windsurf | Self::Goose | Self::LmStudio | Self::Lsp => None,
        }
    }

    /// Returns whether the client is on this machine: its configuration, its folder, or its program
    /// exists.
    pub(in crate::cli) fn is_installed(self, folders: &UserFolders) -> bool {
        let Some(file) = self.user_file(folders) else { return false };
        let folder = match self {
            Self::ClaudeCode => {
                folders.claude.clone().or_else(|| Some(folders.home.join(".claude")))
            }
            Self::Vscode => file.ancestors().nth(2).map(Path::to_owned),
            _ => file.parent().map(Path::to_owned),
        };
        // `zed` and `goose` are also names of other programs.
        let programs: &[&str] = match self {
            Self::ClaudeCode => &["claude"],
            Self::Cursor => &["cursor"],
            Self::Vscode => &["code"],
            Self::Codex => &["codex"],
            Self::Gemini => &["gemini"],
            Self::Zed => &["zeditor"],
            Self::Windsurf => &["windsurf"],
            Self::Opencode => &["opencode"],
            Self::ClaudeDesktop | Self::Goose | Self::LmStudio | Self::Lsp => &[],
        };
        file.exists()
            || folder.is_some_and(|it| it.is_dir())
            || programs.iter().any(|it| folders.has_program(it))
    }
}

impl UserFolders {
    fn has_program(&self, name: &str) -> bool {
        let endings: &[&str] = match self.platform {
            Platform::Windows => &[".exe", ".cmd", ".ps1"],
            _ => &[""],
        };
        let names = endings.iter().map(|it| format!("{name}{it}"));
        names.into_iter().any(|name| self.path.iter().any(|it| it.join(&name).is_file()))
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    fn folders(platform: Platform) -> UserFolders {
        UserFolders {
            platform,
            home: "/u".into(),
            xdg_config: "/u/.config".into(),
            programs: "/u/programs".into(),
            claude: None,
            codex: None,
            gemini: None,
            goose: None,
            path: Vec::new(),
        }
    }

    fn files(folders: &UserFolders) -> String {
        let files = Client::value_variants().iter().filter_map(|it| it.user_file(folders));
        files.map(|it| it.display().to_string().replace('\\', "/") + "\n").collect()
    }

    #[test]
    fn each_system_has_its_own_places() {
        insta::assert_snapshot!(files(&folders(Platform::Unix)), @"
        /u/.claude.json
        /u/programs/Claude/claude_desktop_config.json
        /u/.cursor/mcp.json
        /u/programs/Code/User/mcp.json
        /u/.codex/config.toml
        /u/.gemini/settings.json
        /u/.config/zed/settings.json
        /u/.codeium/windsurf/mcp_config.json
        /u/.config/opencode/opencode.json
        /u/.config/goose/config.yaml
        ");
        let windows = files(&folders(Platform::Windows));
        assert!(windows.contains("/u/programs/Zed/settings.json"), "{windows}");
        assert!(windows.contains("/u/programs/Block/goose/config/config.yaml"), "{windows}");
        let moved = UserFolders { xdg_config: "/x".into(), ..folders(Platform::MacOs) };
        assert!(files(&moved).contains("/u/.config/zed/settings.json"), "{}", files(&moved));
    }

    #[test]
    fn the_variables_of_clients_move_their_files() {
        let moved = UserFolders {
            claude: Some("/c".into()),
            codex: Some("/x".into()),
            gemini: Some("/g".into()),
            goose: Some("/o".into()),
            ..folders(Platform::Unix)
        };
        let file = |it: Client| it.user_file(&moved).unwrap();
        assert_eq!(file(Client::ClaudeCode), Path::new("/c/.claude.json"));
        assert_eq!(file(Client::Codex), Path::new("/x/config.toml"));
        assert_eq!(file(Client::Gemini), Path::new("/g/.gemini/settings.json"));
        assert_eq!(file(Client::Goose), Path::new("/o/config/config.yaml"));
        let shown = |file: &Path| moved.abbreviate(file).replace('\\', "/");
        assert_eq!(shown(&file(Client::Codex)), "/x/config.toml");
        assert_eq!(shown(Path::new("/u/.codex/config.toml")), "~/.codex/config.toml");
    }

    #[test]
    fn the_clients_with_a_known_file_are_the_same_on_all_systems() {
        for platform in [Platform::Unix, Platform::MacOs, Platform::Windows] {
            for client in Client::value_variants() {
                let file = client.user_file(&folders(platform));
                assert_eq!(file.is_some(), client.has_user_file(), "{client:?}");
            }
        }
    }

    #[test]
    fn a_client_is_found_by_its_file_folder_or_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let folders = UserFolders {
            home: root.into(),
            xdg_config: root.join(".config"),
            programs: root.join(".config"),
            path: vec![root.join("bin")],
            ..folders(Platform::Unix)
        };
        let found = || {
            let found = Client::value_variants().iter().filter(|it| it.is_installed(&folders));
            found.copied().collect::<Vec<_>>()
        };
        assert_eq!(found(), []);
        for name in [".cursor", ".config/Code", ".config/opencode", "bin"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join(".claude.json"), "{}").unwrap();
        std::fs::write(root.join("bin/codex"), "").unwrap();
        std::fs::write(root.join("bin/goose"), "").unwrap();
        let expected =
            [Client::ClaudeCode, Client::Cursor, Client::Vscode, Client::Codex, Client::Opencode];
        assert_eq!(found(), expected);
        let opencode = || Client::Opencode.user_file(&folders).unwrap();
        assert!(opencode().ends_with("opencode.json"));
        std::fs::write(root.join(".config/opencode/opencode.jsonc"), "").unwrap();
        assert!(opencode().ends_with("opencode.jsonc"));
    }
}
