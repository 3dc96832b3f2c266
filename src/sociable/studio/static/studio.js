// What pages gain where script runs: parts of them that follow what happens. Without it they are as they were when opened.
"use strict";

// An element with data-live="/events/…" takes its contents from that stream of events, which our server drew and escaped.
// The browser connects again by itself when the stream breaks; the page says so meanwhile.
function follow(element) {
  const stream = new EventSource(element.dataset.live);
  stream.addEventListener("open", () => element.removeAttribute("data-broken"));
  stream.addEventListener("error", () => element.setAttribute("data-broken", ""));
  stream.addEventListener("replace", (event) => replaceContents(element, event.data));
  stream.addEventListener("reload", () => location.reload());
  stream.addEventListener("end", () => stream.close());
}

// What the reader has unfolded, typed or focused stays so: found again by its id.
function replaceContents(element, html) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...element.querySelectorAll("details[id][open]")].map((each) => each.id);
  const typed = [...element.querySelectorAll("input[id], textarea[id], select[id]")].map((each) => [each.id, each.value]);
  const template = document.createElement("template");
  template.innerHTML = html;
  element.replaceChildren(template.content);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
  if (focused) document.getElementById(focused)?.focus();
}

document.querySelectorAll("[data-live]").forEach(follow);

// An answer has a key of its own, which the page names: pressed while nothing is being written, it is as good as the button.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.target.matches("input, textarea, select")) return;
  const button = [...document.querySelectorAll("button[data-key]")].find((each) => each.dataset.key === event.key.toLowerCase());
  if (!button) return;
  event.preventDefault();
  button.click();
});
