#include "tools/html/html_document.hpp"
#include "tools/html/page_reading.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"

#include <string>
#include <thread>
#include <vector>

using namespace rkllm_mcp;
using test::has_text;

namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string seen(const std::string& page) {
  const HtmlDocument document(page);
  return visible_text(document.root());
}

ReadablePage read_page(const std::string& page) {
  const HtmlDocument document(page);
  return readable_page(document, parse_url("https://example.org/a/b"));
}

}  // namespace

TEST_CASE("broken pages read as in a browser") {
  CHECK(seen("<ul><li>one<li>two<p>para<p>next</ul>end") == "one two para next end");
  CHECK(seen("<p><b>bold<i>both</b>italic</i>plain</p>") == "boldbothitalicplain");
  CHECK(seen("</div></p></br></a>text</span>") == "text");
  CHECK(seen("<script>var a='</div><p>no</p>';if(a<b&&c>d){}</script><p>yes") == "yes");
  CHECK(seen("<p>a<script>var x=1;") == "a");
  CHECK(seen("<p>text<a href=\"/x") == "text");
  CHECK(seen("a < b and 3<4 <3") == "a < b and 3<4 <3");
  CHECK(seen("<html><body>a</body></html><html><body class=x>b</body></html>c") == "abc");
  CHECK(seen("a<!-- x --!>b<!-->c<!--->d<?php echo 1 ?>e") == "abcde");
  CHECK(seen("<p>&hellip;&apos;&check;&#8217;&#x1F600;&#128;&copy2024 &amp;lt;") == "…'✓’😀€©2024 &lt;");
  CHECK(seen("<title>a <b> & c</title>") == "");
  CHECK(seen(std::string("<p>a\0b", 6)) != "");
  CHECK(seen("") == "");
}

TEST_CASE("what readers do not see is left out") {
  CHECK(seen("<style>p{}</style><template><p>no</template><p hidden>no</p><p style='color:red; DISPLAY: none'>yes?</p>"
             "<p style='display : none'>no</p><noscript>no</noscript>end") == "yes? end");
}

TEST_CASE("pages that are made to take for ever, or that the parser dies of, cost their own answer only") {
  const PageReading reading(test::kProgram, std::chrono::seconds(1));
  StopSignal nobody;
  const auto read = [&](const std::string& page) {
    return reading.read(PageForm::kReadable, "https://example.org/", page, nobody);
  };
  // Unclosed elements are looked through again for each one that follows.
  CHECK_THROWS_WITH(read(times(400'000, "<div>")), has_text("too long"));
  // Each attribute is compared with all before it.
  std::string attributes = "<p";
  for (int i = 0; i < 200'000; ++i) attributes += " a" + std::to_string(i);
  CHECK_THROWS_WITH(read(attributes + ">"), has_text("too long"));
  // Formatting elements are opened again in each paragraph.
  std::string fonts;
  for (int i = 0; i < 5'000; ++i) fonts += "<font a=" + std::to_string(i) + ">";
  CHECK_THROWS_WITH(read("<p>" + fonts + times(100'000, "</p><p>x")),
                    has_text("the page takes too"));  // memory, or first time
  CHECK(read(times(5'000, "<div>") + "deep")["text"] == "deep");
  CHECK(read("<title>t</title><p>x") == Json{{"title", "t"}, {"text", "x"}});
  CHECK(read("") == Json{{"title", ""}, {"text", ""}});
}

TEST_CASE("a short page that would make a text without end is refused, whatever makes it so long") {
  const PageReading reading(test::kProgram, std::chrono::minutes(1));  // it is not for want of time
  StopSignal nobody;
  const auto read = [&](const std::string& address, const std::string& page) {
    return reading.read(PageForm::kReadable, address, page, nobody);
  };
  const std::string far = "https://example.org/" + std::string(7900, 'a') + "/";
  // Each line begins with the signs of all quotes around it.
  CHECK_THROWS_WITH(read("https://example.org/", times(4'000, "<blockquote>") + times(5'000, "x<br>")),
                    has_text("too much memory"));
  // Each link is written as a whole address.
  CHECK_THROWS_WITH(read(far, times(10'000, "<a href=b>x</a> ")), has_text("too much memory"));
  // As JSON a quotation mark is twice as long.
  CHECK_THROWS_WITH(read("https://example.org/", std::string(9U << 20U, '"')), has_text("too much memory"));
  CHECK(read(far, "<a href=/b>x</a>")["text"] == "[x](https://example.org/b)");
}

TEST_CASE("reading a page stops when it is told to") {
  const PageReading reading(test::kProgram);
  StopSignal stop;
  std::thread other([&stop] { stop.stop(); });
  CHECK_THROWS_WITH(reading.read(PageForm::kReadable, "https://example.org/", times(400'000, "<div>"), stop),
                    has_text("stopped"));
  other.join();
}

TEST_CASE("what cannot be started is said") {
  StopSignal nobody;
  CHECK_THROWS_WITH(PageReading("/nowhere/rkllm-mcp").read(PageForm::kReadable, "https://x/", "x", nobody),
                    has_text("cannot start /nowhere/rkllm-mcp"));
}

TEST_CASE("a page becomes Markdown: title, headings, paragraphs, lists, links") {
  const auto page = read_page(R"page(<!doctype html><html><head><title> The
      title </title><style>x</style></head><body><nav><a href=/>Home</a></nav>
    <h1>Big   <em>news</em></h1><p>One <a href="../c?x=(1)">li[n]k</a>, two<br>lines.</p><p>Next</p>
    <ul><li>one<li><p>two</p><ol start=3><li>a<li>b</ol><li><a href=#here>three</a></ul>
    <blockquote><p>quoted<p>more</blockquote><h2></h2><pre>
int  x;
  y();</pre><table><tr><th>a<th>b<tr><td>1<td>2</table><hr><dl><dt>term<dd>meaning</dl>
    <p><img src=x alt="a picture"> <a href=/z><img src=y></a> <a href="javascript:x">no link</a> end<footer>foot</footer>)page");
  CHECK(page.title == "The title");
  CHECK(page.text == R"page(# Big news

One [li\[n\]k](https://example.org/c?x=%281%29), two
lines.

Next

- one
- two
  3. a
  4. b
- three

> quoted
>
> more

```
int  x;
  y();
```

a | b
1 | 2

---

term
: meaning

a picture no link end)page");
}

TEST_CASE("a link around a whole block stays one link on one line") {
  CHECK(read_page("<a href=/n><h3>Title</h3><p>text</p></a><p>after").text ==
        "[Title text](https://example.org/n)\n\nafter");
}

TEST_CASE("the content is what the page says is its content") {
  CHECK(read_page("<header>h</header><main><p>m</main><p>x").text == "m");
  CHECK(read_page("<p>x<article>m</article>").text == "m");
  CHECK(read_page("<article>a</article><article>b</article>").text == "a\n\nb");
  CHECK(read_page("<main><script>x</script></main><p>x").text == "x");
}
