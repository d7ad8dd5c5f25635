//! Which browser is used, and what is said if there is none?

use super::harness::orb::Home;
use super::{crawl_args, html, project, site};

#[test]
fn the_absence_of_a_browser_is_told_with_what_to_install() {
    let site = site(|_| html("<p>text</p>"));
    let home = Home::new();
    let file = project(&home, &site, "always", "");
    let refused = home.start(&crawl_args(&file), &[("PATH", "/nowhere")]).finish();
    let told = refused.complaint(1);
    assert!(told.contains("no browser was found") && told.contains("apt install chromium-headless-shell"), "{told}");
    let file = project(&home, &site, "always", "render.program = '/nowhere/chrome'");
    let refused = home.orb(&crawl_args(&file));
    assert!(refused.complaint(1).contains("there is no program /nowhere/chrome"), "{refused}");
    assert_eq!(site.connections(), 0);
    assert!(!home.project().exists(), "a project was left behind");
}

#[test]
fn a_program_that_is_no_browser_is_told_before_the_first_request() {
    let site = site(|_| html("<p>text</p>"));
    let home = Home::new();
    let file = project(&home, &site, "always", "render.program = '/bin/false'");
    let refused = home.orb(&crawl_args(&file));
    assert!(refused.complaint(1).contains("the browser does not start"), "{refused}");
    assert_eq!(site.connections(), 0);
}

#[test]
fn root_needs_a_setting() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let site = site(|_| html("<p>text</p>"));
    let home = Home::new();
    let file = project(&home, &site, "always", "");
    let text = std::fs::read_to_string(&file).unwrap().replace("render.no_sandbox = true", "");
    std::fs::write(&file, text).unwrap();
    let refused = home.orb(&crawl_args(&file));
    assert!(refused.complaint(1).contains("render.no_sandbox = true"), "{refused}");
}
