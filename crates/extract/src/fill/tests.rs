use super::*;
use crate::{Content, extract};

fn forms(html: &str) -> Vec<Form> {
    extract(&Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "http://a.test/" })
        .forms
}

fn text(name: &str, value: &str) -> Filling {
    Filling { name: name.to_owned(), typed: Typed::Values(vec![value.to_owned()]), secret: false }
}

fn switch(name: &str, on: bool) -> Filling {
    Filling { name: name.to_owned(), typed: Typed::Switch(on), secret: false }
}

/// The query of the first form with these fields filled in.
fn query(html: &str, given: &[Filling]) -> String {
    fill(&forms(html)[0], given, None).unwrap().query.unwrap()
}

fn wrong(html: &str, given: &[Filling]) -> String {
    fill(&forms(html)[0], given, None).unwrap_err().to_string()
}

#[test]
fn what_nobody_touches_goes_as_the_page_wants_it() {
    let html = "<form action=go><input type=hidden name=csrf value='a b&amp;c'><input name=q value=x><input value=nameless>\
        <input type=checkbox name=c1 checked><input type=checkbox name=c2><input type=radio name=r value=1 checked>\
        <input type=radio name=r value=2 checked><select name=s><option disabled>none<option value=1>one<option>two</select>\
        <select name=m multiple><option selected>a<option>b<option selected>c</select><select name=n multiple><option>a</select>\
        <select name=z size=3><option>a</select><textarea name=t>\none\ntwo</textarea><input type=reset name=no><input type=button name=no>\
        <input name=off disabled value=1><input type=file name=f><input type=submit name=b value=Go><input type=submit name=b2 value=Other>";
    assert_eq!(query(html, &[]), "csrf=a+b%26c&q=x&c1=on&r=2&s=1&m=a&m=c&t=one%0D%0Atwo&f=&b=Go");
}

#[test]
fn what_is_typed_takes_the_place_of_what_was_there() {
    let html = "<form><input name=q value=old><input name=q value=second><select name=s><option value=1>one<option value=2>two</select>\
        <input type=checkbox name=c value=x checked><input type=checkbox name=c value=y><input type=radio name=r value=1 checked>\
        <input type=radio name=r value=2><input name=off disabled><button name=a value=1>A</button><button name=b value=2>B</button>";
    let both = Filling { name: "c".into(), typed: Typed::Values(vec!["y".into()]), secret: false };
    let given = [text("q", "n é"), text("s", "2"), both, text("r", "2"), text("off", "on"), switch("b", true)];
    assert_eq!(query(html, &given), "q=n+%C3%A9&q=second&s=2&c=y&r=2&off=on&b=2");
    assert_eq!(query(html, &[switch("c", false), switch("a", false)]), "q=old&q=second&s=1&r=1&b=2");
}

#[test]
fn a_box_with_a_hidden_twin_is_ticked_beside_it() {
    let html = "<form><input type=hidden name=keep value=0><input type=checkbox name=keep value=1>";
    assert_eq!(query(html, &[]), "keep=0");
    assert_eq!(query(html, &[switch("keep", true)]), "keep=0&keep=1");
    assert_eq!(query(html, &[text("keep", "1")]), "keep=0&keep=1");
}

#[test]
fn a_fieldset_out_of_use_takes_its_fields_along_but_for_its_legend() {
    let html = "<form><fieldset disabled><legend><input name=in value=1></legend><legend><input name=second></legend><input name=out>\
        <fieldset><input name=deep></fieldset></fieldset><input name=after value=2></form>";
    assert_eq!(query(html, &[]), "in=1&after=2");
}

#[test]
fn a_button_may_send_the_form_elsewhere_and_otherwise() {
    let html = "<form action=/a><input name=q value=1><button name=x value=1>A</button>\
        <button name=y formaction=' /b ' formmethod=post formenctype=text/plain value=2>B</button></form>";
    let sent = fill(&forms(html)[0], &[switch("y", true)], None).unwrap();
    let payload = sent.payload.unwrap();
    assert_eq!((sent.action.as_str(), sent.query, payload.mime.as_str()), ("/b", None, "text/plain"));
    assert_eq!(payload.bytes, "q=1\r\ny=2\r\n");
    let picture = "<form><input name=q value=1><input type=image src=go.png name=go></form>";
    assert_eq!(query(picture, &[]), "q=1&go.x=0&go.y=0");
    assert_eq!(query("<form><input name=q><input type=image src=go.png></form>", &[]), "q=&x=0&y=0");
}

#[test]
fn a_password_is_sent_and_not_kept() {
    let html = "<form method=post><input name=u><input type=password name=p><input name=pin></form>";
    let pin = Filling { secret: true, ..text("pin", "1 2") };
    let payload = fill(&forms(html)[0], &[text("u", "me"), text("p", "hunter2"), pin], None).unwrap().payload.unwrap();
    assert_eq!(payload.bytes, "u=me&p=hunter2&pin=1+2");
    assert_eq!(payload.kept, "u=me&p=***&pin=***");
}

#[test]
fn several_parts_are_kept_apart_by_a_line_that_none_of_them_holds() {
    let html =
        "<form method=post enctype=multipart/form-data><input name='a\"b' value='x\ny'><input type=file name=f></form>";
    let payload = fill(&forms(html)[0], &[], None).unwrap().payload.unwrap();
    let boundary = payload.mime.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\nxy\r\n--{boundary}\r\nContent-Disposition: form-data; \
         name=\"f\"; filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--{boundary}--\r\n"
    );
    let sent = String::from_utf8_lossy(&payload.bytes).replace("x\r\ny", "xy");
    assert_eq!(sent, expected);
    let clash = forms("<form method=post enctype=multipart/form-data><input name=a>");
    let held = fill(&clash[0], &[text("a", boundary)], None).unwrap().payload.unwrap();
    assert_eq!(String::from_utf8_lossy(&held.bytes).matches(held.mime.split('=').nth(1).unwrap()).count(), 2);
}

#[test]
fn a_form_is_sent_in_the_encoding_it_accepts_or_that_of_its_page() {
    let html = "<form accept-charset='nonsense iso-8859-1'><input type=hidden name=_charset_><input name=q></form>";
    assert_eq!(query(html, &[text("q", "é€ж")]), "_charset_=windows-1252&q=%E9%80%26%231078%3B");
    let plain = forms("<form><input name=q></form>");
    assert_eq!(fill(&plain[0], &[text("q", "é")], Some("iso-8859-1")).unwrap().query.as_deref(), Some("q=%E9"));
    assert_eq!(fill(&plain[0], &[text("q", "é")], Some("utf-16le")).unwrap().query.as_deref(), Some("q=%C3%A9"));
}

#[test]
fn what_a_form_does_not_take_is_said_with_what_it_takes() {
    let html = "<form><input name=q><input type=radio name=r value=1><input type=radio name=r value=2><input type=file name=f></form>";
    assert_eq!(wrong(html, &[text("qq", "x")]), "the form has no field 'qq'; it has 'q', 'r', 'f'");
    assert_eq!(wrong(html, &[text("r", "3")]), "the field 'r' does not offer '3'; it offers '1', '2'");
    assert_eq!(wrong(html, &[switch("q", true)]), "the field 'q' takes a text, not true or false");
    assert_eq!(wrong(html, &[text("f", "x")]), "the field 'f' takes a file, which cannot be sent");
    let two = Filling { typed: Typed::Values(vec!["a".into(), "b".into()]), ..text("q", "") };
    assert_eq!(wrong(html, &[two]), "the field 'q' takes 1 of the 2 values given");
    assert_eq!(wrong("<form></form>", &[text("q", "x")]), "the form has no field 'q'; it has none");
    assert!(wrong("<form method=dialog></form>", &[]).contains("dialog"));
}

#[test]
fn a_form_of_many_fields_of_one_name_is_sent_in_time() {
    let html = format!("<form>{}</form>", "<input type=radio name=r checked>".repeat(9_000));
    assert_eq!(query(&html, &[]), "r=on");
    let html = format!("<form>{}</form>", "<input name=q>".repeat(9_000));
    assert_eq!(query(&html, &[text("q", "1")]).len(), 9_000 * 3);
}
