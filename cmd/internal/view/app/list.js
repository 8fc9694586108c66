// The list of packages, with its search.
const list = {
  side: document.getElementById("side"),
  box: document.getElementById("packages"),
  input: document.getElementById("search"),
  found: document.getElementById("found"),
  links: [],
  current: null,
};

// excerpt is the part of a text around a word.
const AROUND = 40;
const excerpt = (text, word) => {
  const one = text.replace(/\s+/g, " "), at = one.toLowerCase().indexOf(word);
  if (one.length <= 2 * AROUND || at < 0) return cut(one, 2 * AROUND);
  const from = Math.max(0, at - AROUND), to = Math.min(one.length, at + word.length + AROUND);
  return (from ? "…" : "") + one.slice(from, to) + (to < one.length ? "…" : "");
};

// matches returns how a package answers a search, null when it does not: rank 0 by
// its name, 1 by its display name, provider or keywords, 2 by an API that it
// provides, 3 by its description; and the text that did.
const matches = (p, words) => {
  let rank = 0, why = "";
  for (const w of words) {
    const at = p.haystacks.findIndex((list) => list.some((x) => x.low.includes(w)));
    if (at < 0) return null;
    if (at > rank) {
      rank = at;
      why = excerpt(p.haystacks[at].find((x) => x.low.includes(w)).text, w);
    }
  }
  return { package: p, rank, why };
};

const listItem = ({ package: p, why }) => {
  const link = el("a", { href: address("package", p.catalog.name, p.name), "aria-current": p === list.current ? "page" : null },
    el("span", { class: "name" }, said(p.name)),
    p.deprecated ? tag("deprecated") : null,
    hasInstalled(p) ? tag("installed") : null,
    differs(p),
    why ? el("span", { class: "found" }, said(why)) : null);
  link.package = p;
  list.links.push(link);
  return el("li", null, link);
};

const showList = () => {
  const words = list.input.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.links = [];
  clear(list.box);
  list.side.classList.toggle("searching", words.length > 0);
  for (const c of data.catalogs) {
    const hits = c.packages.map((p) => matches(p, words)).filter(Boolean);
    hits.sort((a, b) => a.rank - b.rank);
    if (data.catalogs.length > 1) put(list.box, [el("h2", null, said(c.name))]);
    put(list.box, [el("ul", null, hits.map(listItem))]);
  }
  const n = list.links.length;
  list.found.textContent = words.length ? (n ? plural(n, "package") : "no package matches") : plural(n, "package");
};

// showCurrent marks the package that is shown.
const showCurrent = (p) => {
  list.current = p;
  for (const link of list.links) {
    if (link.package === p) {
      link.setAttribute("aria-current", "page");
      const place = link.getBoundingClientRect(), box = list.box.getBoundingClientRect();
      if (place.top < box.top || place.bottom > box.bottom) list.box.scrollTop += place.top - box.top - box.height / 3;
    } else link.removeAttribute("aria-current");
  }
};

// Arrows lead from the search into the list and through it, escape leads back.
const listKeys = (event) => {
  const at = list.links.indexOf(document.activeElement);
  const go = (i) => {
    event.preventDefault();
    (i < 0 ? list.input : list.links[Math.min(i, list.links.length - 1)])?.focus();
  };
  switch (event.key) {
    case "ArrowDown": go(at + 1); break;
    case "ArrowUp": if (at >= 0) go(at - 1); break;
    case "Home": if (at >= 0) go(0); break;
    case "End": if (at >= 0) go(list.links.length - 1); break;
    case "Enter": if (at < 0 && list.input.value && list.links.length) list.links[0].click(); break;
    case "Escape":
      if (at >= 0) go(-1);
      else if (list.input.value) { event.preventDefault(); list.input.value = ""; showList(); }
      break;
  }
};

const startList = () => {
  list.input.addEventListener("input", showList);
  list.side.addEventListener("keydown", listKeys);
  showList();
};
