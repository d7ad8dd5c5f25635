//! Is what style sheets arrange, in tables, indents, frames and pieces, still in its place?

use super::*;

#[test]
fn no_cell_spans_rows_of_another_group() {
    reads(
        "<table><tbody><tr><td>Header<td><td></tbody><tbody><tr><td><td rowspan=9>(1)<td><tr><td>int f();<td>old<tr><td>int f(int);<td>new</tbody>\
         <tbody><tr><td>void g();<td>(2)<td>both</tbody></table>",
        &expect![[r#"
            |  |  |  |
            | --- | --- | --- |
            | Header |  |  |
            |  | (1) |  |
            | int f(); |  | old |
            | int f(int); |  | new |
            | void g(); | (2) | both |
        "#]],
    );
}

#[test]
fn a_row_of_nothing_is_left_out_but_counts_for_what_spans_it() {
    reads(
        "<table><tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td><tr><td>y<td>2</table>",
        &expect![[r#"
            | a | b |
            | --- | --- |
            | x | 1 |
            | y | 2 |
        "#]],
    );
}

#[test]
fn a_small_table_in_a_cell_is_its_lines() {
    reads(
        "<table><tr><td>Type<td>Definition<tr><td>value_type<td>T<tr><td>reference<td>\
         <table><tr><td>A::reference<td>(until 11)</td></tr><tr><td>T&amp;<td>(since 11)</table><tr><td>size_type<td>Unsigned</table>",
        &expect![[r#"
            |  |  |
            | --- | --- |
            | Type | Definition |
            | value_type | T |
            | reference | A::reference (until 11)<br>T& (since 11) |
            | size_type | Unsigned |
        "#]],
    );
}

#[test]
fn what_is_indented_behind_a_list_belongs_to_its_last_item() {
    reads(
        "<ul><li>C11:</ul><dl><dd><ul><li>printf</ul><dl><dd><ul><li>deep</ul></dl></dl><dl><dd><ul><li>scanf</ul></dl>\
         <ul><li>C99:</ul><dl><dd>Text</dl><p>End<dl><dd>Apart</dl>",
        &expect![[r#"
            - C11:
              - printf
                - deep
              - scanf

            - C99:
              Text

            End

            Apart
        "#]],
    );
}

#[test]
fn brackets_that_are_set_of_pieces_are_one_sign() {
    reads(
        "<p><span class=texhtml>exp<span><span style='font-size: 0.5em'>⎛<br>⎜<br>⎝</span><span>x</span><span>⎞<br>⎟<br>⎠</span></span></span> <span>⎛ is a piece</span>",
        &expect![[r#"
            exp(x) ⎛ is a piece
        "#]],
    );
}

#[test]
fn texts_in_frames_do_not_run_together() {
    reads(
        "<p>It is <span class='t-rev-inl old'><span>this</span> <span>(until 17)</span></span><span class=t-rev-inl><span>that</span> <span>(since 17)</span></span>, \
         un<span>divided</span>",
        &expect![[r#"
            It is this (until 17) that (since 17), undivided
        "#]],
    );
}

#[test]
fn what_is_named_a_button_is_read_like_one() {
    reads(
        "<div class='coliru-btn run'>Run this code</div><div class=buttons>These stay</div><div class=price-btn>27.90</div>\
         <div class=btn><a href=/b>Buy</a></div>",
        &expect![[r#"
            These stay

            27.90

            [Buy](http://a.org/b)
        "#]],
    );
}
