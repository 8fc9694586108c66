// The list of packages, with its search.
const list = {
  box: document.getElementById("packages"),
  input: document.getElementById("search"),
  found: document.getElementById("found"),
  links: [],
  current: null,
};

// matches returns how a package answers a search: by name, by an API that it
// provides, or not.
const matches = (p, words) => {
  if (!words.every((w) => p.haystack.includes(w))) return null;
  const name = p.name.toLowerCase();
  if (words.every((w) => name.includes(w))) return { package: p, api: "" };
  return { package: p, api: (p.apis || []).find((a) => words.some((w) => a.toLowerCase().includes(w))) || "" };
};

const listItem = ({ package: p, api }) => {
  const link = el("a", { href: address("package", p.catalog.name, p.name), "aria-current": p === list.current ? "page" : null },
    el("span", { class: "name" }, said(p.name)),
    p.deprecated ? tag("deprecated") : null,
    hasInstalled(p) ? tag("installed") : null,
    differs(p),
    api ? el("span", { class: "api" }, said(api)) : null);
  link.package = p;
  list.links.push(link);
  return el("li", null, link);
};

const showList = () => {
  const words = list.input.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.links = [];
  clear(list.box);
  for (const c of data.catalogs) {
    const hits = c.packages.map((p) => matches(p, words)).filter(Boolean);
    hits.sort((a, b) => (a.api ? 1 : 0) - (b.api ? 1 : 0));
    if (data.catalogs.length > 1) put(list.box, [el("h2", null, said(c.name))]);
    put(list.box, [el("ul", null, hits.map(listItem))]);
  }
  const n = list.links.length;
  list.found.textContent = words.length ? (n ? plural(n, "package") : "no package has this name or API") : plural(n, "package");
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
  document.getElementById("side").addEventListener("keydown", listKeys);
  showList();
};
