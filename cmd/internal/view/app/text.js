// Elements. All text of a catalog becomes a text node; nothing here, and
// nothing anywhere in this script, makes markup of a string.

// put adds children to a node: nodes as they are, everything else as text.
const put = (node, children) => {
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false) continue;
    node.append(c instanceof Node ? c : String(c));
  }
  return node;
};

// set gives an element its attributes, and its listeners, whose names begin with
// "on". True stands for an empty value; null and false leave an attribute out.
const set = (node, attrs) => {
  for (const [name, value] of Object.entries(attrs || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
};

const el = (tag, attrs, ...children) => put(set(document.createElement(tag), attrs), children);
const svg = (tag, attrs, ...children) => put(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs), children);

// said is text of a catalog: it keeps its direction of writing to itself.
const said = (text, attrs) => el("bdi", attrs, text);

const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

// shownOf counts what is listed, and names where the rest is.
const shownOf = (shown, all, word) => (shown < all ? `${shown.toLocaleString("en")} of ${plural(all, word)}; olmkit validate lists all` : plural(all, word));

// cut shortens a text for a drawing; the whole of it stands elsewhere.
const cut = (text, most) => {
  const all = Array.from(text);
  return all.length <= most ? text : all.slice(0, most - 1).join("") + "…";
};

// clear empties an element.
const clear = (node) => { node.replaceChildren(); return node; };

// speak announces what happened to screen readers.
const speak = (text) => { document.getElementById("spoken").textContent = text; };

// tag is a small mark with a word, so that no meaning hangs on a color.
const tag = (word, kind) => el("span", { class: "tag " + (kind || word.replaceAll(" ", "-")) }, word);

// address makes the link to a place of the page.
const address = (...parts) => "#/" + parts.map((p) => encodeURIComponent(p)).join("/");

// folded is a part that opens on demand; make is called when it does.
const folded = (title, make, open) => {
  const body = el("div", { class: "folded" });
  const fill = () => { if (!body.hasChildNodes()) put(body, [make()]); };
  const d = el("details", { open: open || null, ontoggle: () => { if (d.open) fill(); } }, el("summary", null, title), body);
  d.fill = fill;
  if (open) fill();
  return d;
};

// table is a table with a header row; cells are lists of children. A header
// { number: text } is that of a column of numbers.
const isNumber = (h) => (h.number ? "number" : null);
const table = (caption, header, rows) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
  el("table", null,
    el("caption", { class: "quiet" }, caption),
    el("thead", null, el("tr", null, header.map((h) => el("th", { scope: "col", class: isNumber(h) }, isNumber(h) ? h.number : h)))),
    el("tbody", null, rows.map((cells) => el("tr", null, cells.map((c, i) => el(i ? "td" : "th", i ? { class: isNumber(header[i]) } : { scope: "row" }, c)))))));
