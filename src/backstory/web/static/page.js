// What the pages do besides being read: search as you type, loading parts of a long conversation, the keyboard, live
// updates. Every page works without it.
"use strict";

const base = document.body.dataset.base;
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const say = (text) => { $("#said").textContent = text; setTimeout(() => { $("#said").textContent = ""; }, 2500); };

async function fetchPart(address) {
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html").body;
}

// theme: the system's, light or dark
const themes = ["", "light", "dark"];
const switcher = $("[data-theme-switch]");
function showTheme() {
  const theme = document.documentElement.dataset.theme || "";
  switcher.textContent = { "": "Auto", light: "Light", dark: "Dark" }[theme];
  switcher.setAttribute("aria-label", `Colours: ${switcher.textContent}`);
}
switcher.hidden = false;
showTheme();
switcher.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % themes.length];
  if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
  document.cookie = `backstory_theme=${next}; path=${base || "/"}; max-age=${next ? 31536000 : 0}; samesite=strict`;
  showTheme();
});

// copying
for (const button of $$("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    say("Copied");
  });
}

// search as you type
const results = $("#results");
const field = $("#q");
const isNarrow = matchMedia("(max-width: 1080px)");
const foldFacets = () => { const facets = $(".facets"); if (facets && isNarrow.matches) facets.open = false; };
// on other pages the results are shown above what is there, until Escape or an empty field
let overlay = null;
function showLive(part) {
  if (!overlay) {
    overlay = document.createElement("section");
    overlay.className = "live";
    overlay.setAttribute("aria-label", "Search results");
    $(".top").after(overlay);
  }
  overlay.hidden = part === null;
  if (part) overlay.replaceChildren(...part.childNodes);
}
foldFacets();
let latest = 0, waiting = 0;
field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const mine = ++latest, text = field.value.trim();
    const url = new URL(results ? location.href : `${base}/search`, location.href);
    url.searchParams.set("q", text);
    url.searchParams.delete("page");
    if (!results && !text) { showLive(null); return; }
    const part = await fetchPart(url).catch(() => null);
    if (part === null || mine !== latest) return;
    if (!results) { showLive(part); foldFacets(); return; }
    results.replaceChildren(...part.childNodes);
    foldFacets();
    history.replaceState(null, "", url);
    document.title = `${text || "Search"} · Backstory`;
  }, 160);
});
field.addEventListener("keydown", (event) => { if (event.key === "Escape" && overlay) { latest++; showLive(null); } });

// a long conversation: its next part is fetched before it is reached, and nothing moves when an earlier one comes
const messages = $("#messages");
const RELEASED_PX = 3500;  // farther than a part is fetched ahead, or one would be released and fetched in turn
async function load(more) {
  if (!more || more.dataset.loading) return;
  more.dataset.loading = "1";
  const part = await fetchPart($("a", more).href).catch(() => null);
  if (part === null) { delete more.dataset.loading; return; }
  const isEarlier = "earlier" in more.dataset;
  const inverse = $(isEarlier ? "[data-later]" : "[data-earlier]", part);
  if (inverse) inverse.remove();
  stay(() => more.replaceWith(...part.childNodes));
  stay(release);
  if (isExpanded) expand();
  watch();
}
// changes what is outside the window, and moves nothing in it
function stay(change) {
  const anchor = $$(".part > *", messages).find((each) => each.getBoundingClientRect().bottom > 0);
  const before = anchor ? anchor.getBoundingClientRect().top : 0;
  change();
  if (anchor && anchor.isConnected) window.scrollBy(0, anchor.getBoundingClientRect().top - before);
}
// parts far from the window leave the page; a link in their place brings them back
function release() {
  const parts = $$(":scope > .part", messages), far = (each) => {
    const box = each.getBoundingClientRect();
    return box.bottom < -RELEASED_PX ? "earlier" : box.top > innerHeight + RELEASED_PX ? "later" : "";
  };
  const sides = parts.map(far);
  for (const side of ["earlier", "later"]) {
    const gone = parts.filter((_, i) => sides[i] === side);
    if (!gone.length || gone.length === parts.length) continue;
    for (const each of $$(`:scope > [data-${side}]`, messages)) each.remove();
    const nearest = side === "earlier" ? gone.at(-1) : gone[0];
    const link = document.createElement("a"), more = document.createElement("p");
    const first = nearest.dataset.first, size = nearest.dataset.last - first + 1;
    link.href = `${base}/conversation/${encodeURIComponent(messages.dataset.conversation)}?from=${first}&size=${size}`;
    link.textContent = side === "earlier" ? "↑ Earlier messages" : "↓ Later messages";
    more.className = "more";
    more.dataset[side] = "";
    more.append(link);
    nearest.replaceWith(more);
    for (const each of gone) each.remove();
  }
}
const nearing = messages && new IntersectionObserver((entries) => {
  for (const each of entries) if (each.isIntersecting) load(each.target);
}, { rootMargin: "1500px 0px" });
function watch() {
  if (nearing) for (const each of $$(".more", messages)) nearing.observe(each);
  if (reading) for (const each of $$("[data-prompt]", messages)) reading.observe(each);
}
const reading = messages && new IntersectionObserver((entries) => {
  for (const each of entries) if (each.isIntersecting) showPrompt(each.target.dataset.prompt);
}, { rootMargin: "-70px 0px -70% 0px" });
function showPrompt(number) {
  for (const each of $$(".prompts .now")) each.classList.remove("now");
  const link = $(`.prompts [data-number="${CSS.escape(number)}"]`);
  if (link) { link.classList.add("now"); keepVisible(link); }
}
function keepVisible(link) {
  const rail = link.closest(".rail"), top = link.offsetTop - rail.clientHeight / 2;
  if (rail.scrollHeight > rail.clientHeight && getComputedStyle(rail).position === "sticky") rail.scrollTop = top;
}
async function jumpTo(number) {
  const there = document.getElementById(`m${number}`);
  if (!there) { location.href = `?at=${number}#m${number}`; return; }
  there.scrollIntoView({ block: "start" });
  there.focus({ preventScroll: true });
}
async function stepPrompt(direction) {
  const line = 90, places = $$("[data-prompt]", messages);
  const tops = places.map((each) => each.getBoundingClientRect().top);
  let next = direction > 0 ? places.find((_, i) => tops[i] > line) : places.findLast((_, i) => tops[i] < line - 20);
  if (!next) {
    const more = $(direction > 0 ? "[data-later]" : "[data-earlier]", messages);
    if (!more) return;
    await load(more);
    return stepPrompt(direction);
  }
  jumpTo(next.dataset.prompt);
}
// the minimap: the stretch of the conversation that is in the window
const map = $(".minimap svg");
function showWindow() {
  const visible = $$("#messages > .part > [id]").filter((each) => {
    const box = each.getBoundingClientRect();
    return box.bottom > 60 && box.top < innerHeight;
  }).map((each) => Number(each.id.slice(1)));
  if (!visible.length) return;
  const size = Number(map.dataset.size), mark = $(".window", map);
  mark.setAttribute("y", (visible[0] - 1) / size);
  mark.setAttribute("height", Math.max((visible.at(-1) - visible[0] + 1) / size, 0.6));
}
if (map) {
  let isWaiting = false;
  const soon = () => { if (!isWaiting) { isWaiting = true; requestAnimationFrame(() => { isWaiting = false; showWindow(); }); } };
  addEventListener("scroll", soon, { passive: true });
  showWindow();
  map.addEventListener("click", (event) => {
    const link = event.target.closest("a"), there = link && document.getElementById(`m${link.dataset.number}`);
    if (!there) return;
    event.preventDefault();
    there.scrollIntoView({ block: "start" });
  });
}
let isExpanded = false;
function expand() { for (const each of $$("details.message", messages)) each.open = isExpanded; }
async function openSubagent(details) {
  if (!details.open || !details.dataset.subagent) return;
  const part = await fetchPart(details.dataset.subagent).catch(() => null);
  if (part === null || !details.dataset.subagent) return;
  delete details.dataset.subagent;
  for (const each of $$("[id], [data-prompt]", part)) { each.removeAttribute("id"); delete each.dataset.prompt; }
  for (const each of $$(".more", part)) each.remove();
  details.append(...part.children);
}
if (messages) {
  watch();
  const expander = $("[data-expand]");
  expander.hidden = false;
  expander.addEventListener("click", () => {
    isExpanded = !isExpanded;
    expander.setAttribute("aria-pressed", String(isExpanded));
    expander.textContent = isExpanded ? "Fold all" : "Expand all";
    expand();
  });
  messages.addEventListener("toggle", (event) => openSubagent(event.target), true);
  messages.addEventListener("click", async (event) => {
    const whole = event.target.closest("[data-whole]");
    if (!whole) return;
    event.preventDefault();
    const part = await fetchPart(whole.href).catch(() => null);
    if (part === null) { location.href = whole.href; return; }
    whole.parentElement.replaceChildren(...part.childNodes);
  });
  const wanted = $(".find-in input");
  let latestFind = 0;
  wanted.addEventListener("input", async () => {
    const mine = ++latestFind, url = new URL(location.href);
    url.searchParams.set("find", wanted.value.trim());
    url.searchParams.set("part", "found");
    const answer = await fetch(url).catch(() => null);
    if (!answer || !answer.ok || mine !== latestFind) return;
    const text = await answer.text();
    if (mine === latestFind) $("#found").replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  });
  $("#found").addEventListener("click", (event) => {
    const link = event.target.closest("[data-jump]");
    const there = link && document.getElementById(link.dataset.jump);
    if (!there) return;
    event.preventDefault();
    if (there.matches("details")) there.open = true;
    there.scrollIntoView({ block: "start" });
  });
  for (const link of $$(".prompts a")) link.addEventListener("click", (event) => {
    if (!document.getElementById(`m${link.dataset.number}`)) return;
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    jumpTo(link.dataset.number);
  });
}

const target = location.hash && document.getElementById(location.hash.slice(1));
if (target && target.matches("details")) target.open = true;

// what was said meanwhile
const recent = $("#recent"), firstSteps = $("[data-first-steps]");
if (recent || messages || firstSteps) {
  const about = messages ? `?conversation=${encodeURIComponent(messages.dataset.conversation)}` : "";
  let known = null;
  new EventSource(`${base}/events${about}`).onmessage = async (event) => {
    const told = JSON.parse(event.data), before = known;
    known = told;
    if (messages) await showNew(told.end);
    else if (firstSteps) { if (told.entries) location.replace(`${base}/`); }
    else if (before !== null) {
      const answer = await fetch(`${base}/`);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("recent");
      if (answer.ok && fresh) $("#recent").replaceWith(fresh);
    }
  };
}
async function showNew(end) {
  const shown = Number(messages.dataset.end);
  if (!(end > shown)) return;
  messages.dataset.end = end;
  say(`${end - shown} new`);
  if ($("[data-later]", messages)) return;  // they come when one gets there
  const part = await fetchPart(`${base}/conversation/${encodeURIComponent(messages.dataset.conversation)}?from=${shown + 1}`);
  for (const each of $$("[data-earlier]", part)) each.remove();
  messages.append(...part.childNodes);
  if (isExpanded) expand();
  watch();
}

// saved filters: kept in this browser, offered on the page they belong to
const savedBox = $("[data-saved]");
if (savedBox) {
  const key = `backstory-filters${location.pathname}`;
  const read = () => JSON.parse(localStorage.getItem(key) || "[]");
  const write = (filters) => { localStorage.setItem(key, JSON.stringify(filters)); showSaved(); };
  const now = () => {
    const query = new URLSearchParams(location.search);
    for (const name of ["page", "before", "format", "part"]) query.delete(name);
    for (const [name, value] of [...query]) if (!value) query.delete(name);
    return query;
  };
  const nameOf = (query) => [...query].map(([name, value]) => {
    const option = $(`.filters select[name="${CSS.escape(name)}"] option:checked`);
    return option ? option.textContent : value.split("/").at(-1);
  }).join(", ");
  function showSaved() {
    const query = now(), filters = read(), isKnown = filters.some((each) => each.query === query.toString());
    const chips = filters.map((each) => {
      const chip = document.createElement("span"), link = document.createElement("a"), remove = document.createElement("button");
      chip.className = "chosen";
      link.href = `${location.pathname}?${each.query}`;
      link.textContent = each.name;
      remove.type = "button";
      remove.className = "link";
      remove.textContent = "×";
      remove.setAttribute("aria-label", `Remove saved filter ${each.name}`);
      remove.addEventListener("click", () => write(read().filter((other) => other.query !== each.query)));
      chip.append(link, remove);
      return chip;
    });
    if (query.size && !isKnown) {
      const save = document.createElement("button");
      save.type = "button";
      save.textContent = results ? "Save this search" : "Save this filter";
      save.addEventListener("click", () => { write([...read(), { name: nameOf(now()), query: now().toString() }]); say("Saved in this browser"); });
      chips.push(save);
    }
    savedBox.replaceChildren(...chips);
    savedBox.hidden = !chips.length;
  }
  showSaved();
}

// the keyboard
const lettersKey = "backstory-letters";
const letters = $("#letters");
letters.checked = localStorage.getItem(lettersKey) !== "off";
letters.addEventListener("change", () => localStorage.setItem(lettersKey, letters.checked ? "on" : "off"));
for (const button of $$("[data-help]")) { button.hidden = false; button.addEventListener("click", () => $("#help").showModal()); }

function step(direction) {
  const hits = $$(".hit, .row, .entry").filter((each) => each.offsetParent);
  if (!hits.length) return;
  const now = hits.findIndex((each) => each.contains(document.activeElement));
  const next = hits[Math.min(Math.max(now + direction, 0), hits.length - 1)];
  ($("a", next) || next).focus();
  next.scrollIntoView({ block: "nearest" });
}
let isGoing = false;  // until the next key: a time limit would ask for speed
const keys = {
  "/": () => { field.focus(); field.select(); },
  "?": () => $("#help").showModal(),
  j: () => step(1),
  k: () => step(-1),
  w: () => { const why = document.activeElement.closest(".hit")?.querySelector(".why"); if (why) why.open = !why.open; },
  "[": () => messages && stepPrompt(-1),
  "]": () => messages && stepPrompt(1),
  g: () => { isGoing = true; },
};
document.addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openJump(); return; }
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.metaKey || event.ctrlKey || event.altKey || !letters.checked) return;
  if (isGoing) {
    isGoing = false;
    const link = $(`.menu [data-key="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
});

// go to a page, or search
const jump = $("#jump"), jumpField = $("input", jump), jumpList = $("#jump-list");
let chosen = 0;
let hits = [], latestHits = 0, waitingHits = 0;  // of the search for what is typed
function searchSoon() {
  clearTimeout(waitingHits);
  const mine = ++latestHits, text = jumpField.value.trim();
  hits = [];
  if (text.length < 2) return;
  waitingHits = setTimeout(async () => {
    const answer = await fetch(`${base}/search?format=json&q=${encodeURIComponent(text)}`).catch(() => null);
    const body = answer && answer.ok ? await answer.json() : { results: [] };
    if (mine !== latestHits || !jump.open) return;
    hits = body.results.slice(0, 6).map((each) => ({
      name: each.kind === "memory" ? each.key || each.category : each.conversation?.title || "Conversation",
      about: each.passage.replace(/^\s*(?:#{1,6}|>|[-*+])\s+|\*\*|`/gm, ""),  // as text: an option has no markup
      href: each.kind === "memory" ? `${base}/memory/${encodeURIComponent(each.id)}`
        : `${base}/conversation/${encodeURIComponent(each.conversation_id)}?at=${each.number}#m${each.number}`,
    }));
    showPlaces();
  }, 160);
}
function places() {
  const text = jumpField.value.trim().toLowerCase();
  const pages = $$(".menu a").map((each) => ({ name: each.textContent, href: each.href }));
  const found = pages.filter((each) => each.name.toLowerCase().includes(text));
  const query = { name: `Search for “${jumpField.value.trim()}”`, href: `${base}/search?q=${encodeURIComponent(jumpField.value.trim())}` };
  return text ? [query, ...found, ...hits] : found;
}
function showPlaces() {
  const options = places().map((place, number) => {
    const option = document.createElement("li");
    option.id = `jump-${number}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(number === chosen));
    option.textContent = place.name;
    if (place.about) {
      const about = document.createElement("span");
      about.className = "about";
      about.textContent = place.about;
      option.append(about);
    }
    option.addEventListener("click", () => { location.href = place.href; });
    return option;
  });
  jumpList.replaceChildren(...options);
  jumpField.setAttribute("aria-activedescendant", options.length ? `jump-${chosen}` : "");
  options[chosen]?.scrollIntoView({ block: "nearest" });
}
function openJump() { if (jump.open) return; jumpField.value = ""; hits = []; chosen = 0; showPlaces(); jump.showModal(); jumpField.focus(); }
jumpField.addEventListener("input", () => { chosen = 0; searchSoon(); showPlaces(); });
jumpField.addEventListener("keydown", (event) => {
  const count = places().length;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % Math.max(count, 1);
    showPlaces();
  } else if (event.key === "Enter" && places()[chosen]) { event.preventDefault(); location.href = places()[chosen].href; }
});
for (const dialog of $$("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

// where one is: on a phone the menu is wider than the screen. Last, since it is laid out for that, and keys need not wait
const here = $(".menu [aria-current]");
if (here) $(".menu ul").scrollLeft = here.offsetLeft - $(".menu ul").clientWidth / 2;
