//! What makes git run a file, or trust one: no right to write the workspace includes it.

use super::{Attack, GUESTS, NO, OK, WITH_GIT, WORKSPACE, bench, run, steps};

#[tokio::test]
async fn a_grant_to_write_the_workspace_plants_nothing_in_its_repository() {
    run(&[
        Attack {
            name: "a hook is made",
            grants: WORKSPACE,
            steps: &[("put .git/hooks/pre-commit", NO), ("get .git/hooks/pre-commit", "no-entry")],
            missing: &["write=.git"],
            control: (WITH_GIT, &["put .git/hooks/pre-commit", "get .git/hooks/pre-commit"]),
        },
        Attack {
            name: "a file of the repository is written over, emptied or made longer, however it is opened",
            grants: WORKSPACE,
            steps: &[
                ("put .git/config", NO),
                ("open .git/config as=f +write", NO),
                ("open .git/config as=f +truncate", NO),
                ("open .git/config as=f +read +truncate", NO),
                ("open .git/config as=f +create", NO),
                ("open .git/config as=f +read +write", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["open .git/config as=f +write", "write @f", "size @f", "touch @f"]),
        },
        Attack {
            name: "another spelling of the path leads there",
            grants: WORKSPACE,
            steps: &[
                ("put ./.git/./config", NO),
                ("put src/../.git/config", NO),
                ("put .git//config", NO),
                ("put src/deep/../../.git/hooks/../config", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["put ./.git/./config", "put src/../.git/config"]),
        },
        Attack {
            name: "a link inside the workspace leads there",
            grants: WORKSPACE,
            steps: &[
                ("put repository/config", NO),
                ("put src/hooks/pre-commit", NO),
                ("mkdir source/hooks/x", NO),
                ("unlink repository/config", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["put repository/config", "put src/hooks/pre-commit", "put source/new.txt"]),
        },
        Attack {
            name: "a link that the guest makes leads there",
            grants: WORKSPACE,
            steps: &[
                ("symlink mine .git/hooks", OK),
                ("put mine/pre-commit", NO),
                ("symlink file .git/config", OK),
                ("put file", NO),
                ("symlink dangling .git/new", OK),
                ("put dangling", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["symlink mine .git/hooks", "put mine/pre-commit"]),
        },
        Attack {
            name: "a folder that is open for reading is written in",
            grants: WORKSPACE,
            steps: &[
                ("open .git/hooks as=d +directory +read +mutate", OK),
                ("put pre-commit @d", NO),
                ("mkdir x @d", NO),
                ("unlink old @d", NO),
                ("rename old new @d in=d", NO),
                ("symlink x old @d", NO),
                ("touch-at old @d", NO),
                ("touch @d", NO),
                ("get old @d", "old hook"),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["open .git/hooks as=d +directory +read", "put pre-commit @d", "touch @d"]),
        },
        Attack {
            name: "a file that is open for reading is changed through its handle",
            grants: WORKSPACE,
            steps: &[
                ("open .git/config as=f +read", OK),
                ("write @f", NO),
                ("size @f", NO),
                ("touch @f", NO),
                ("read @f", "[core]"),
            ],
            missing: &[],
            control: (WITH_GIT, &["open .git/config as=f +read +write", "write @f", "touch @f"]),
        },
        Attack {
            name: "a hard link to a file of the repository is written through",
            grants: WORKSPACE,
            steps: &[("link .git/hooks/old mine", NO), ("link repository/config mine", NO), ("get mine", "no-entry")],
            missing: &["write=.git"],
            control: (WITH_GIT, &["link .git/hooks/old mine", "put mine"]),
        },
        Attack {
            name: "a hard link is put there",
            grants: WORKSPACE,
            steps: &[("link free.txt .git/hooks/pre-commit", NO), ("link free.txt src/hooks/pre-commit", NO)],
            missing: &["write=.git"],
            control: (WITH_GIT, &["link free.txt .git/hooks/pre-commit"]),
        },
        Attack {
            name: "a file is moved there or away",
            grants: WORKSPACE,
            steps: &[
                ("rename free.txt .git/hooks/pre-commit", NO),
                ("rename free.txt src/../.git/hooks/old", NO),
                ("rename .git/config mine", NO),
                ("rename src .git/src", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["rename free.txt .git/hooks/pre-commit", "rename .git/config mine"]),
        },
        Attack {
            name: "files and folders are removed or made there",
            grants: WORKSPACE,
            steps: &[
                ("unlink .git/config", NO),
                ("rmdir .git/hooks", NO),
                ("mkdir .git/refs", NO),
                ("symlink .git/link x", NO),
                ("touch-at .git/config", NO),
                ("touch-at .git", NO),
                ("touch-at .git/.", NO),
            ],
            missing: &["write=.git"],
            control: (WITH_GIT, &["mkdir .git/refs", "rmdir .git/refs", "symlink .git/link x", "unlink .git/config"]),
        },
    ])
    .await;
}

#[tokio::test]
async fn the_repository_itself_is_neither_moved_nor_replaced() {
    run(&[
        Attack {
            name: "it is moved away, to put another in its place",
            grants: WORKSPACE,
            steps: &[
                ("rename .git old", NO),
                ("rename .git/ old", NO),
                ("rename ./.git/. old", NO),
                ("rename sub/../.git old/", NO),
                ("rmdir .git", NO),
                ("unlink .git", NO),
            ],
            missing: &["write=.git"],
            control: (WORKSPACE, &["rename src old"]),
        },
        Attack {
            name: "a folder of the guest becomes one",
            grants: WORKSPACE,
            steps: &[
                ("mkdir mine", OK),
                ("rename mine src/.git", NO),
                ("rename mine src/.git/", NO),
                ("rename mine src/deep/../.git", NO),
                ("rename mine source/.git", NO),
                ("open mine as=m +directory +read", OK),
                ("rename . src/.git @m", "invalid"),
                ("rename mine .git", NO),
            ],
            missing: &["write=src/.git", "write=.git"],
            control: (WORKSPACE, &["mkdir mine", "rename mine src/git", "rename src/git src/.github"]),
        },
        Attack {
            name: "one is made in a folder without",
            grants: WORKSPACE,
            steps: &[
                ("mkdir src/.git", NO),
                ("mkdir src/.git/", NO),
                ("put src/.git", NO),
                ("symlink src/.git deep", NO),
                ("link free.txt src/.git", NO),
                ("rename free.txt src/.git", NO),
            ],
            missing: &["write=src/.git"],
            control: (WORKSPACE, &["mkdir src/.github", "put src/.gitignore"]),
        },
        Attack {
            name: "one that some file systems take for it is made",
            grants: WORKSPACE,
            steps: &[("mkdir src/.GIT", NO), ("put src/.Git", NO), ("mkdir src/git~1", NO), ("mkdir src/.git.", NO)],
            missing: &["write=src/.GIT", "write=src/.Git", "write=src/git~1", "write=src/.git."],
            control: (WORKSPACE, &["mkdir src/gIT"]),
        },
        Attack {
            name: "that of a submodule is written, whether it is a folder or a file",
            grants: WORKSPACE,
            steps: &[
                ("put sub/.git/config", NO),
                ("put module/.git", NO),
                ("unlink module/.git", NO),
                ("rename sub/.git sub/old", NO),
                ("rename sub moved", NO),
                ("rename module moved", NO),
            ],
            missing: &["write=sub/.git", "write=module/.git"],
            control: (WORKSPACE, &["put sub/new.txt", "rename src moved"]),
        },
        Attack {
            name: "a right to write it is used to move it",
            grants: WITH_GIT,
            steps: &[("rename .git old", NO), ("unlink .git", NO), ("rmdir .git", NO)],
            missing: &[],
            control: (WITH_GIT, &["rename .git/config .git/config.old"]),
        },
    ])
    .await;
}

#[tokio::test]
async fn no_other_folder_becomes_a_repository() {
    run(&[
        Attack {
            name: "one is put together, and git runs what its configuration says",
            grants: WORKSPACE,
            steps: &[
                ("put src/HEAD", OK),
                ("put src/config", OK),
                ("mkdir src/objects", OK),
                ("mkdir src/refs", NO),
                ("symlink src/refs nowhere", NO),
                ("rename src/deep src/refs", NO),
                ("rename src/deep src/REFS", NO),
                ("link free.txt src/refs", NO),
                ("put src/refs", NO),
                ("put src/commondir", NO),
            ],
            missing: &["write=src"],
            control: (
                WORKSPACE,
                &["put src/HEAD", "mkdir src/objects", "rename src/HEAD src/head.txt", "mkdir src/refs"],
            ),
        },
        Attack {
            name: "one that is there gets a hook and another configuration",
            grants: WORKSPACE,
            steps: &[
                ("put bare/config", NO),
                ("put bare/hooks/pre-receive", NO),
                ("rename bare/hooks bare/old", NO),
                ("open bare/hooks as=d +directory +read", OK),
                ("put x @d", NO),
            ],
            missing: &["write=bare"],
            control: (&["write=.", "write=bare"], &["put bare/config", "put bare/hooks/pre-receive"]),
        },
    ])
    .await;
}

#[tokio::test]
async fn parts_of_a_repository_that_are_made_at_once_are_not_all_made() {
    for plugin in GUESTS {
        for round in 0..20 {
            let bench = bench(plugin, WORKSPACE);
            let work = bench.env().work();
            let host = bench.load().await;
            let tool = format!("{plugin}.try");
            let make = |step: &'static str| host.answer(&tool, steps([step]));
            futures_util::future::join3(make("put src/HEAD"), make("mkdir src/objects"), make("mkdir src/refs")).await;
            let made = ["HEAD", "objects", "refs"].iter().filter(|it| work.join("src").join(it).exists()).count();
            assert_eq!(made, 2, "{plugin}, round {round}");
        }
    }
}
