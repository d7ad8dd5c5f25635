//! Are all pages of a real site found, as an independent crawler finds them?
#![expect(clippy::unwrap_used, reason = "a failure here fails the test")]

mod harness;

use harness::site::Site;
use std::path::Path;
use std::process::Command;

#[test]
fn scratch() {
    for (root, start) in
        [("/usr/share/doc/python3-doc/html", "/"), ("/usr/share/cppreference/doc/html", "/en/index.html")]
    {
        let site = Site::serve(Path::new(root));
        let dir = tempfile::tempdir().unwrap();
        let start_at = std::time::Instant::now();
        let st = Command::new("wget")
            .args([
                "--recursive",
                "--level=inf",
                "--no-verbose",
                "-o",
                "/tmp/wget.log",
                "-nd",
                "--delete-after",
                &site.url(start),
            ])
            .current_dir(dir.path())
            .status()
            .unwrap();
        let asked = site.take_asked();
        println!("{root}: {st:?} {:?} {} urls", start_at.elapsed(), asked.len());
        std::fs::write(
            format!("/tmp/wget-{}.txt", asked.len()),
            asked.iter().map(|(u, n)| format!("{n} {u}\n")).collect::<String>(),
        )
        .unwrap();
    }
}
