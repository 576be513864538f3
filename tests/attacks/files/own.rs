//! Plugins, and the program's own folders: whoever writes there runs outside.

use crate::support::TestEnv;

use super::{Attack, GUESTS, NO, OK, WORKSPACE, bench, results, run, steps};

#[tokio::test]
async fn plugins_and_the_programs_own_folders_are_not_written() {
    run(&[
        Attack {
            name: "a plugin of the project is made or replaced",
            grants: WORKSPACE,
            steps: &[
                ("put .agents/plugins/q.wasm", NO),
                ("put .agents/plugins/p.wasm", NO),
                ("rename .agents old", NO),
                ("mkdir src/.agents", NO),
                ("rename free.txt .agents/plugins/q.wasm", NO),
            ],
            missing: &["write=.agents/plugins", "write=src/.agents"],
            control: (&["write=.", "write=.agents/plugins"], &["put .agents/plugins/q.wasm"]),
        },
        Attack {
            name: "a right to write what is beside plugins makes one",
            grants: &["write=.", "write=.agents"],
            steps: &[
                ("put .agents/plugins/q.wasm", NO),
                ("put plugins/q.wasm @.agents", NO),
                ("rename plugins old @.agents in=.agents", NO),
            ],
            missing: &["write=.agents/plugins"],
            control: (
                &["write=.", "write=.agents", "write=.agents/plugins"],
                &["put .agents/x", "put .agents/plugins/q.wasm"],
            ),
        },
        Attack {
            name: "a plugin in a folder of `--plugins` is made, replaced, or the folder moved",
            grants: WORKSPACE,
            steps: &[
                ("put plug/q.wasm", NO),
                ("put plug/p.wasm", NO),
                ("rename plug old", NO),
                ("link plug/p.wasm mine", NO),
                ("mkdir PLUG/x", "no-entry"),
            ],
            missing: &["write=plug"],
            control: (&["write=.", "write=plug"], &["put q.wasm @plug", "put plug/p.wasm"]),
        },
        Attack {
            name: "the file of `--plugin` is made, or the folder moved that it is in",
            grants: WORKSPACE,
            steps: &[
                ("put dev/one.wasm", NO),
                ("rename free.txt dev/one.wasm", NO),
                ("rename dev old", NO),
                ("rename dev/deep dev/one.wasm", NO),
            ],
            missing: &["write=dev/one.wasm"],
            control: (WORKSPACE, &["put dev/two.wasm", "rename dev/deep dev/deeper"]),
        },
    ])
    .await;
}

/// With the home folder as workspace, where its own folders are below.
async fn in_the_home(plugin: &str, grants: &[&str], tried: &[(&str, &str)]) {
    let mut bench = bench(plugin, grants);
    bench.options.surroundings.workspace = bench.env().home();
    let host = bench.load().await;
    let answer = host.answer(&format!("{plugin}.try"), steps(tried.iter().map(|it| it.0))).await;
    let expected: Vec<&str> = tried.iter().map(|it| it.1).collect();
    assert_eq!(results(&answer), expected, "{plugin} {grants:?}");
}

#[tokio::test]
async fn the_programs_own_folders_are_neither_read_nor_written_from_above() {
    for plugin in GUESTS {
        for grant in ["write=.", "read=."] {
            let refused = [
                ("get .config/bellglass/grants.toml", NO),
                ("open .config/bellglass as=d +directory +read", NO),
                ("get .cache/bellglass/code", NO),
                ("stat .cache/bellglass/code", NO),
                ("put .config/bellglass/policy.toml", NO),
                ("put .cache/bellglass/code", NO),
                ("rename .config old", NO),
                ("rename .cache/bellglass old", NO),
                ("symlink l .config/bellglass", if grant == "write=." { OK } else { NO }),
                ("get l/grants.toml", if grant == "write=." { NO } else { "no-entry" }),
                ("get outside.txt", "outside"),
            ];
            in_the_home(plugin, &[grant], &refused).await;
        }
        // Configuration can be granted by its name; compiled code cannot.
        let named = [("get .config/bellglass/grants.toml", "# grants"), ("put .config/bellglass/x", OK)];
        in_the_home(plugin, &["write=.", "write=~/.config/bellglass"], &named).await;
        let cache = [("put .cache/bellglass/code", NO)];
        in_the_home(plugin, &["write=.", "write=~/.cache/bellglass"], &cache).await;
    }
}

#[test]
fn the_program_itself_knows_what_is_its_own_and_says_how_to_grant_it() {
    let env = TestEnv::new().guest("files").config("").home_file("notes.txt", "mine").home_file("more/p.wasm", "");
    // The way to the state is there, and the state is not yet.
    let env = env.home_file(".local/state/other/x", "");
    let tried = [
        "put .config/bellglass/policy.toml",
        "symlink .local/state/bellglass more",
        "mkdir .local/state/bellglass",
        "put .agents/plugins/x.wasm",
        "put more/q.wasm",
        "put notes.txt",
    ];
    let given = steps(tried).to_string();
    let run = |grants: &[&str]| {
        let mut command = env.command(&[&["call", "try", &given, "--plugins", "more"], grants].concat());
        command.current_dir(env.home());
        env.finish(command, "")
    };
    let refused = run(&["--grant", "files:write=."]);
    let shown = |results: &[&str]| serde_json::json!({"results": results, "ok": true}).to_string();
    assert_eq!(refused.stdout.trim_end(), shown(&[NO, NO, NO, NO, NO, OK]), "{refused}");
    for flag in ["write=.config/bellglass", "write=.local/state/bellglass", "write=.agents/plugins", "write=more"] {
        assert!(refused.stderr.contains(&format!("(`--grant files:{flag}`)")), "{flag}: {refused}");
    }
    let granted = ["--grant", "files:write=.", "--grant", "files:write=.agents/plugins"];
    let granted = run(&granted);
    assert_eq!(granted.stdout.trim_end(), shown(&[NO, NO, NO, OK, NO, OK]), "{granted}");
}
