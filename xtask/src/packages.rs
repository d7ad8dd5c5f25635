//! What must the machine have besides Rust?
//!
//! Debian packages, each with the reason and a probe for its presence, so that a machine that got
//! it elsewhere is left alone. Only root may install; other users get a message that says what to
//! ask for.

use crate::steps::{root, run, succeeds};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// How to detect a package.
pub(crate) enum Probe {
    /// This program succeeds with these arguments.
    Runs(&'static str, &'static [&'static str]),
    /// This file exists.
    File(&'static str),
}

/// A package: its name, why it is needed, and its probe.
pub(crate) type Package = (&'static str, &'static str, Probe);

/// What the tests need.
pub(crate) const FOR_TESTS: &[Package] = &[
    ("python3", "runs the judges of our archives", Probe::Runs("python3", &["--version"])),
    (
        "python3-venv",
        "keeps the judges in a directory of their own",
        Probe::Runs("python3", &["-c", "import ensurepip"]),
    ),
    ("chromium", "draws the drawings that tests/pictures.rs looks at", Probe::Runs("chromium", &["--version"])),
    (
        "chromium-headless-shell",
        "renders the pages of tests/render",
        Probe::File("/usr/lib/chromium/chromium-headless-shell"),
    ),
    ("util-linux", "taskset pins the crawls of tests/pace.rs to one core", Probe::Runs("taskset", &["--version"])),
    ("wget", "the independent crawler that tests/real_site.rs compares with", Probe::Runs("wget", &["--version"])),
    ("python3-doc", "a real site for tests/real_site.rs", Probe::File("/usr/share/doc/python3-doc/html/index.html")),
    (
        "cppreference-doc-en-html",
        "another real site for tests/real_site.rs",
        Probe::File("/usr/share/cppreference/doc/html/en/index.html"),
    ),
    ("clang-14-doc", "a real site for tests/editions.rs", Probe::File("/usr/share/doc/clang-14/html/index.html")),
    ("clang-15-doc", "the same site a year later", Probe::File("/usr/share/doc/clang-15/html/index.html")),
    ("vsftpd", "an FTP server that tests/real_servers.rs crawls", Probe::File("/usr/sbin/vsftpd")),
    ("libmemcached11", "part of proftpd, see UNPACKED", Probe::Runs("sh", &["-c", "ls /usr/lib/*/libmemcached.so.11"])),
    ("libhiredis0.14", "likewise", Probe::Runs("sh", &["-c", "ls /usr/lib/*/libhiredis.so.0.14"])),
    ("libmemcachedutil2", "likewise", Probe::Runs("sh", &["-c", "ls /usr/lib/*/libmemcachedutil.so.2"])),
    ("libpcre2-posix3", "likewise", Probe::Runs("sh", &["-c", "ls /usr/lib/*/libpcre2-posix.so.3"])),
    ("openssl", "makes the hash of its password", Probe::Runs("openssl", &["version"])),
    ("openssh-client", "speaks SSH for SFTP", Probe::Runs("ssh", &["-V"])),
    ("openssh-server", "an SFTP server that tests/sftp.rs crawls", Probe::File("/usr/sbin/sshd")),
    (
        "postgresql",
        "the server that tests/postgres.rs exports to",
        Probe::Runs("sh", &["-c", "ls /usr/lib/postgresql/*/bin/initdb"]),
    ),
    (
        "libfaketime",
        "sets a clock wrong in tests/many_machines_broken.rs",
        Probe::Runs("sh", &["-c", "ls /usr/lib/*/faketime/libfaketime.so.1"]),
    ),
    (
        "libreoffice-writer-nogui",
        "makes the texts that tests/office_documents.rs reads",
        Probe::File("/usr/lib/libreoffice/program/libswlo.so"),
    ),
    ("libreoffice-calc-nogui", "makes its sheets", Probe::File("/usr/lib/libreoffice/program/libsclo.so")),
    ("libreoffice-impress-nogui", "makes its slides", Probe::File("/usr/lib/libreoffice/program/libsdlo.so")),
];

/// What the tests need and cannot be installed beside the others: Debian allows one FTP server at a
/// time, and a news server brings a mail server along. It is unpacked into `target/unpacked`, each
/// with a file by which its presence is known.
const UNPACKED: &[(&str, &str)] = &[
    ("proftpd-core", "usr/sbin/proftpd"),
    ("proftpd-mod-crypto", "usr/lib/proftpd/mod_tls.so"),
    ("sn", "usr/sbin/snntpd.bin"),
];

/// What the bench needs in addition.
pub(crate) const FOR_BENCH: &[Package] = &[
    ("python3-venv", "keeps Scrapy in a directory of its own", Probe::Runs("python3", &["-c", "import ensurepip"])),
    ("wget", "a peer", Probe::Runs("wget", &["--version"])),
    ("wget2", "a peer", Probe::Runs("wget2", &["--version"])),
    ("httrack", "a peer", Probe::Runs("httrack", &["--version"])),
];

/// What the bench of other protocols than the web's needs in addition.
pub(crate) const FOR_PROTOCOLS: &[Package] = &[
    ("vsftpd", "an FTP server", Probe::File("/usr/sbin/vsftpd")),
    ("openssh-server", "an SFTP server", Probe::File("/usr/sbin/sshd")),
    ("openssh-client", "speaks SSH for SFTP, and a peer", Probe::Runs("ssh", &["-V"])),
    ("lftp", "a peer", Probe::Runs("lftp", &["--version"])),
    ("wget", "a peer", Probe::Runs("wget", &["--version"])),
];

/// What the profile needs.
pub(crate) const FOR_PROFILE: &[Package] =
    &[("linux-perf", "samples the crawler", Probe::Runs("perf", &["--version"]))];

impl Probe {
    fn holds(&self) -> bool {
        match self {
            Self::Runs(program, args) => succeeds(program, args),
            Self::File(path) => Path::new(path).exists(),
        }
    }
}

/// Ensures that these packages are present: installs what is missing, or lists it if not permitted.
pub(crate) fn ensure(packages: &[Package]) -> Result<()> {
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    for (name, why, _) in &missing {
        println!("missing: {name} ({why})");
    }
    let names: Vec<&str> = missing.iter().map(|(name, _, _)| *name).collect();
    if !is_root() || !succeeds("apt-get", &["--version"]) {
        bail!("these Debian packages are missing: apt-get install {}", names.join(" "));
    }
    install(&names)?;
    let still: Vec<&str> = self::missing(packages).iter().map(|(name, _, _)| *name).collect();
    if !still.is_empty() {
        bail!("installed, but not to be found: {}", still.join(" "));
    }
    Ok(())
}

/// Unpacks what cannot be installed.
pub(crate) fn unpack() -> Result<()> {
    let place = root().join("target/unpacked");
    for (name, file) in UNPACKED.iter().filter(|(_, file)| !place.join(file).exists()) {
        std::fs::create_dir_all(&place)?;
        let place = place.display();
        run("sh", &["-c", &format!("cd '{place}' && apt-get -qq download {name} && dpkg -x {name}_*.deb .")])
            .with_context(|| format!("{name} has no {file}"))?;
    }
    Ok(())
}

fn missing(packages: &[Package]) -> Vec<&Package> {
    packages.iter().filter(|(_, _, probe)| !probe.holds()).collect()
}

fn install(names: &[&str]) -> Result<()> {
    run("apt-get", &["-qq", "update"])?;
    let mut args = vec![
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-qq",
        "install",
        "--no-install-recommends",
        // Small images exclude documentation, and documentation is what we need.
        "-o",
        "Dpkg::Options::=--path-include=/usr/share/doc/*",
    ];
    args.extend(names);
    run("env", &args)
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}
