// What pages for people gain where script runs: what is typed is kept on the server, Ctrl+Enter sends, links are copied.
"use strict";

const WAIT_MILLISECONDS = 400;

// What a person types goes to the server soon after, and at the latest when the page is left.
function keepDrafts(form) {
  const told = form.querySelector("[data-kept]");
  let waiting = 0;
  const keep = async () => {
    clearTimeout(waiting);
    waiting = 0;
    const draft = new URLSearchParams(new FormData(form));
    draft.set("action", "draft");
    try {
      const answer = await fetch(form.dataset.draft, { method: "POST", body: draft, keepalive: true });
      told.textContent = answer.ok ? "Kept." : "This could not be kept.";
    } catch {
      told.textContent = "The studio does not answer; trying again.";
      waiting = setTimeout(keep, 2000);
    }
  };
  form.addEventListener("input", () => {
    told.textContent = "";
    clearTimeout(waiting);
    waiting = setTimeout(keep, WAIT_MILLISECONDS);
  });
  addEventListener("pagehide", () => waiting && keep());
  form.addEventListener("submit", () => clearTimeout(waiting));
  form.addEventListener("submit", () => (waiting = 0));
}

for (const form of document.querySelectorAll("form[data-draft]")) keepDrafts(form);

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.closest("form.seat")?.requestSubmit();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Press Ctrl+C";
  }
});

// A page with news, or with a problem, is begun there by keyboard and by ear.
const begun = document.getElementById("problem") ?? (location.hash === "#new" ? document.getElementById("new") : null);
begun?.focus();
