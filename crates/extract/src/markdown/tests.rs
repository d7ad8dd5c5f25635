mod arranged;

use super::*;
use expect_test::{Expect, expect};

fn shown(html: &str) -> String {
    markdown(html, &MarkdownRequest { url: Some("http://a.org/d/p.html"), only: None })
}

#[track_caller]
fn reads(html: &str, wanted: &Expect) {
    wanted.assert_eq(&shown(html));
}

#[test]
fn headings_paragraphs_and_rules_are_set_apart() {
    reads(
        "<head><title>t</title></head><h1> A <em>b</em> <a class=headerlink href='#a'>¶</a></h1>x<p>One\n two.<p>Three<hr><div>Four</div>",
        &expect![[r#"
            # A *b*

            x

            One two.

            Three

            ---

            Four
        "#]],
    );
}

#[test]
fn links_and_images_are_absolute() {
    reads(
        "<p>See <a href='b.html#c'>b <b>c</b></a>, <a href=/x(1)>y</a>, <a href='javascript:z()'>z</a> \
         <a href=http://a.org/e>http://a.org/e</a> <img src=../i.png alt='A [cat]'><img src=s.gif alt=''><img src=p width=1 height=1>",
        &expect![[r#"
            See [b **c**](http://a.org/d/b.html#c), [y](<http://a.org/x(1)>), z <http://a.org/e> ![A \[cat\]](http://a.org/i.png)
        "#]],
    );
    let based = markdown("<base href=/o/><a href=x>x</a>", &MarkdownRequest { url: Some("http://a.org/"), only: None });
    assert_eq!(based, "[x](http://a.org/o/x)\n");
    assert_eq!(markdown("<a href=x>x</a>", &MarkdownRequest::default()), "[x](x)\n");
}

#[test]
fn a_link_around_blocks_becomes_the_link_of_its_first_text() {
    reads(
        "<a href=/c><h3>Card</h3><p>Text</p></a><p>After",
        &expect![[r#"
            ### [Card](http://a.org/c)

            Text

            After
        "#]],
    );
}

#[test]
fn lists_nest_and_stay_tight_if_they_are() {
    reads(
        "<p>Before<ul><li>One<ul><li>Two<li><b>Three</b></ul><li>Four</ul><ol start=9><li>Nine<li>Ten<ol><li>Deep</ol></ol>After",
        &expect![[r#"
            Before

            - One
              - Two
              - **Three**
            - Four

            9. Nine
            10. Ten
                1. Deep

            After
        "#]],
    );
    reads(
        "<ul><li><p>One</p><p>More</p><li><p>Two</p><pre>x\n y</pre></ul>",
        &expect![[r#"
            - One

              More

            - Two

              ```
              x
               y
              ```
        "#]],
    );
}

#[test]
fn items_say_what_is_done_and_give_their_numbers() {
    reads(
        "<ul><li><input type=checkbox checked disabled> Done<li><label><input type=checkbox>To do</label></ul>\
         <ol><li>One<li value=7>Seven<li>Eight</ol><p><input type=checkbox> no item",
        &expect![[r#"
            - [x] Done
            - [ ] To do

            1. One
            7. Seven
            8. Eight

            no item
        "#]],
    );
}

#[test]
fn items_outside_any_list_are_items() {
    reads(
        "<p>Before<li>One\n<li>Two<p>After",
        &expect![[r#"
            Before

            - One

            - Two

              After
        "#]],
    );
    reads(
        "<ul><div><li>In a list</div></ul>",
        &expect![[r#"
            - In a list
        "#]],
    );
}

#[test]
fn definitions_follow_their_terms() {
    reads(
        "<dl><dt><code>dump(obj)</code><dt>dumps<dd><p>Writes.</p><p>Quickly.</p><ul><li>a</ul><dt>load<dd>Reads.<dl><dt>in<dd>ner</dl></dl><p>End",
        &expect![[r#"
            `dump(obj)`
            dumps
            :   Writes.

                Quickly.

                - a

            load
            :   Reads.

                in
                :   ner

            End
        "#]],
    );
}

#[test]
fn code_keeps_its_lines_and_names_its_language() {
    reads(
        "<div class='highlight-python3 notranslate'><div class=highlight><pre><span></span><b>def</b> f():\n    return <i>1</i> &lt; 2\n</pre></div></div>\
         <pre><code class='language-rust hljs'>fn main() {}</code></pre><pre class='brush: js;'>x</pre><pre>```</pre>\
         <p>Call <code>a  `b`</code> or <tt>c</tt>",
        &expect![[r#"
            ```python
            def f():
                return 1 < 2
            ```

            ```rust
            fn main() {}
            ```

            ```javascript
            x
            ```

            ````
            ```
            ````

            Call `` a `b` `` or `c`
        "#]],
    );
}

#[test]
fn programs_whose_lines_are_blocks_are_code() {
    reads(
        "<div class=fragment><div class=line><a id=l1></a><span class=lineno>1</span> int f() {</div>\n\
         <div class=line>  return *p;</div>\n<div class=line>}</div></div><pre class='rust rust-example-rendered'>let x;</pre>",
        &expect![[r#"
            ```
             int f() {
              return *p;
            }
            ```

            ```rust
            let x;
            ```
        "#]],
    );
}

#[test]
fn tables_of_data_become_pipe_tables_and_others_do_not() {
    reads(
        "<table><caption>Cap</caption><thead><tr><th>A<th>B|C</thead><tr><td>1<td><p>x</p><p>y</p><tr><td colspan=2>wide</table>",
        &expect![[r#"
            Cap

            | A | B\|C |
            | --- | --- |
            | 1 | x<br>y |
            | wide |  |
        "#]],
    );
    reads(
        "<table><tr><td class=linenos><pre>1\n2</pre><td><pre>a\nb</pre></table><table><tr><td><h2>H</h2>left<td>right</table>",
        &expect![[r#"
            ```
            a
            b
            ```

            ## H

            left

            right
        "#]],
    );
    reads(
        "<table><tr><td>k<td>v<tr><td>k2<td>v2</table>",
        &expect![[r#"
            |  |  |
            | --- | --- |
            | k | v |
            | k2 | v2 |
        "#]],
    );
}

#[test]
fn quotations_figures_and_summaries() {
    reads(
        "<blockquote><p>One</p><ul><li>x</ul></blockquote><figure><img src=i alt=I><figcaption>Cap</figcaption></figure>\
         <details><summary>More</summary>Hidden</details>",
        &expect![[r#"
            > One
            >
            > - x

            ![I](http://a.org/d/i)

            *Cap*

            **More**

            Hidden
        "#]],
    );
}

#[test]
fn what_would_be_markup_is_escaped() {
    reads(
        "<p># no heading<p>1. no list<p>- x<p>push_back *star* _x_ 2 * 3 `t` &lt;b> &amp;lt; [1] [a](b) C:\\dir<p>+ y",
        &expect![[r#"
            \# no heading

            1\. no list

            \- x

            push_back \*star\* \_x\_ 2 * 3 \`t\` \<b> \&lt; [1] [a\](b) C:\dir

            \+ y
        "#]],
    );
}

#[test]
fn signs_beside_emphasis_stay_signs() {
    reads(
        "<p>~*<b> ~ </b>",
        &expect![[r#"
            ~\* **\~**
        "#]],
    );
    reads(
        "<p>&lt;<b>http://b.example/</b>a&gt; &lt;<b>!</b>x",
        &expect![[r#"
            \<http://b.example/a> \<!x
        "#]],
    );
}

#[test]
fn emphasis_touches_its_words() {
    reads(
        "<p>a<b> bold </b>b <i></i><em>x<em>y</em></em> <del>z</del> 10<sup>6</sup> H<sub>2</sub>O 2<sup>10</sup><sup>[1]</sup><br>next",
        &expect![[r#"
            a **bold** b *xy* ~~z~~ 10^6 H_2O 2^{10}[1]  
            next
        "#]],
    );
}

#[test]
fn formulas_are_written_in_tex() {
    reads(
        "<p>So <math><semantics><mrow><mi>x</mi></mrow><annotation encoding='application/x-tex'>x^2 + \\alpha</annotation></semantics></math> is <math alttext='y'><mi>y</mi></math> or <math><mi>z</mi></math>.",
        &expect![[r#"
            So $x^2 + \alpha$ is $y$ or z.
        "#]],
    );
}

#[test]
fn annotations_of_a_formula_for_programs_are_left_out() {
    reads(
        "<p>So <math><semantics><mi>x</mi><annotation-xml encoding='MathML-Content'><ci>ecks</ci></annotation-xml>\
         <annotation encoding='StarMath 5.0'>size 12</annotation></semantics></math> it is.",
        &expect![[r#"
            So x it is.
        "#]],
    );
}

#[test]
fn what_nobody_reads_is_left_out() {
    reads(
        "<script>x()</script><style>y</style><form><input value=1><select><option>o</select><textarea>t</textarea><button>b</button></form><svg><title>s</title><text>u</text></svg><template>v</template><p>text",
        &expect![[r#"
            text
        "#]],
    );
}

#[test]
fn only_the_wanted_ranges_are_written() {
    let html = "<nav>menu</nav><h1>Title</h1><p>Body <b>text</b></p><ul><li>a<li>b</ul><footer>foot</footer>";
    let at = |text: &str| html.find(text).unwrap();
    let only = [at("Title")..at("</h1>"), at("Body")..at("<li>b")];
    let made = markdown(html, &MarkdownRequest { url: None, only: Some(&only) });
    assert_eq!(made, "# Title\n\nBody **text**\n\n- a\n");
}

#[test]
fn wild_markup_is_read_in_linear_time() {
    for wild in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<table>",
        "<table><tr><td>",
        "<blockquote>",
        "<dl><dt>a<dd>",
        "<a href=x><div>",
        "<svg></x>",
        "<span><div></span>",
        "<b><div></b>",
        "<a><b></a>",
        "<p><b id=x>",
        "</p>",
        "<pre>",
        "<math><mi>",
    ] {
        let page = format!("{}<h1>x", wild.repeat(50_000));
        assert!(shown(&page).contains('x'), "{wild}");
    }
    let attributes: String = (0..50_000).map(|i| format!(" a{i}")).collect();
    assert_eq!(shown(&format!("<p{attributes}>y")), "y\n");
}

#[test]
fn the_numbers_of_lines_are_no_part_of_a_program() {
    reads(
        "<div class='language-ruby highlighter-rouge'><pre class=highlight><code><table class=rouge-table><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td>\
         <td class=rouge-code><pre>def a\nend\n</pre></td></tr></table></code></pre></div>\
         <table class=lntable><tr><td><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td><td><pre><code class=language-go>func main() {\n}\n</code></pre></td></tr></table>\
         <table class=listing_frame><tr><td><pre>1\n2\n3</pre></td><td><pre>int a;\n\nint b;</pre></td></tr></table>\
         <pre><code><span class=ln>1</span>package main\n<span class=ln>2</span>import x</code></pre>",
        &expect![[r#"
            ```ruby
            def a
            end
            ```

            ```go
            func main() {
            }
            ```

            ```
            int a;

            int b;
            ```

            ```
            package main
            import x
            ```
        "#]],
    );
}

#[test]
fn highlighters_say_the_language_in_many_ways() {
    for (html, language) in [
        ("<pre><code class=python>x</code></pre>", "python"),
        ("<pre class='code ruby'><code class=ruby>x</code></pre>", "ruby"),
        ("<pre lang=python>x</pre>", "python"),
        ("<pre lang=en>x</pre>", ""),
        ("<pre class=EnlighterJSRAW data-enlighter-language=js>x</pre>", "javascript"),
        ("<pre data-syntaxhighlighter-params='brush: java; gutter: false'>x</pre>", "java"),
        ("<div class='highlight hl-ipython3'><pre>x</pre></div>", "python"),
        ("<div class=language-js><span class=lang>js</span><pre class=shiki>x</pre></div>", "javascript"),
        ("<div class='content python'><pre>x</pre></div>", ""),
    ] {
        assert_eq!(shown(html), format!("```{language}\nx\n```\n"), "{html}");
    }
}

#[test]
fn programs_that_are_taken_apart_are_put_together() {
    reads(
        "<div class='syntaxhighlighter js'><table><tr><td class=gutter><div class=line>1</div><div class=line>2</div></td><td class=code><div class=container>\
         <div class=line><code>var</code> <code>a;</code></div><div class=line><code>&nbsp;&nbsp;</code><code>b();</code></div></div></td></tr></table></div>\
         <div class=phpcode><code><span>&lt;?php<br />\n</span>$a&nbsp;=&nbsp;1;<br />\n&nbsp;&nbsp;echo;</code></div>\
         <pre><input type=checkbox><code class=language-mjs>import a;</code><code class=language-cjs>require(a);</code></pre>\
         <p>In a line <code>a<br>b</code></p>",
        &expect![[r#"
            ```javascript
            var a;
              b();
            ```

            ```php
            <?php
            $a = 1;
              echo;
            ```

            ```mjs
            import a;
            ```

            ```cjs
            require(a);
            ```

            In a line `a b`
        "#]],
    );
}

#[test]
fn formulas_that_are_set_by_programs_are_their_tex() {
    reads(
        "<p>So <span class='math notranslate'>\\(a^2 + b_i\\)</span> and <span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>\
         <annotation encoding='application/x-tex'>x^2</annotation></semantics></math></span><span class=katex-html>x2</span></span> and \
         <script type='math/tex'>y_3</script><span class=MathJax>y3</span> and <span><img class=mwe-math-fallback-image-inline alt='{\\displaystyle E}' src=e.svg></span>.</p>\
         <div class=math>\\[\\sum_i i\\]</div><p class=math>no formula</p>",
        &expect![[r#"
            So $a^2 + b_i$ and $x^2$ and $y_3$ and $E$.

            $$\sum_i i$$

            no formula
        "#]],
    );
}

#[test]
fn pictures_are_found_where_scripts_would_load_them_and_once() {
    reads(
        "<p><img srcset='s.jpg 1x, t.jpg 2x' alt=S></p><p><img data-src=l.jpg src='data:image/gif;base64,R0' alt=L><noscript><img src=l.jpg alt=L></noscript></p>",
        &expect![[r#"
            ![S](http://a.org/d/s.jpg)

            ![L](http://a.org/d/l.jpg)
        "#]],
    );
}

#[test]
fn short_programs_stay_in_tables_with_headings() {
    reads(
        "<table><tr><th>k<th>v<tr><td>a<td><pre>x\ny</pre></table>",
        &expect![[r#"
            | k | v |
            | --- | --- |
            | a | `x`<br>`y` |
        "#]],
    );
}
