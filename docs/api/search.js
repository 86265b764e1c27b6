// Finds names of the reference: names.js, which scripts/docs makes, has [name, scope, page] of each.
// Joins the declarations that share a comment.
"use strict";

const search = document.getElementById("search");
const input = search.querySelector("input");
const list = search.querySelector("ul");
const SHOWN_MAX = 20;

// A name that is the text comes first, then one that begins with it, then one that has it.
function rank([name, scope], text) {
    if (name === text) return 0;
    if (name.startsWith(text)) return 1;
    return `${scope}::${name}`.includes(text) ? 2 : 3;
}

function show() {
    const text = input.value.trim().toLowerCase().replace(/\(\)$/, "");
    const found = text === "" ? [] : names
        .map((each) => [rank(each, text), each])
        .filter(([place]) => place < 3)
        .sort(([a, one], [b, other]) => a - b || one[0].length - other[0].length)
        .slice(0, SHOWN_MAX);
    list.replaceChildren(...found.map(([, [name, scope, page]]) => {
        const item = document.createElement("li");
        const link = item.appendChild(document.createElement("a"));
        link.href = page;
        link.textContent = name;
        link.appendChild(document.createElement("small")).textContent = scope;
        return item;
    }));
    if (text !== "" && found.length === 0)
        list.appendChild(document.createElement("li")).textContent = "no such name";
}

// Arrow keys go through the list, Enter opens, and Escape closes.
function move(event) {
    const stops = [input, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
        input.value = "";
        show();
        input.focus();
    } else if (event.key === "Enter" && event.target === input) {
        list.querySelector("a")?.click();
    } else if (step !== undefined) {
        event.preventDefault();
        stops[Math.max(0, Math.min(stops.length - 1, stops.indexOf(event.target) + step))].focus();
    }
}

// Declarations that share a comment are one item, if they follow each other: above the comment.
function title(heading) {
    return heading.childNodes[1].textContent.trim().replace("()", "");
}
for (const mark of document.querySelectorAll(".memdoc .shared")) {
    const item = mark.closest(".memitem");
    const heading = item.previousElementSibling;
    const anchor = heading.previousElementSibling;
    const first = anchor.previousElementSibling;
    if (!first?.matches(".memitem") || `As ${title(first.previousElementSibling)}` !== mark.textContent)
        continue;
    first.querySelector(".memdoc").before(anchor, item.querySelector(".memproto"));
    heading.remove();
    item.remove();
}

search.hidden = false;
input.addEventListener("input", show);
search.addEventListener("keydown", move);
document.addEventListener("click", (event) => {
    if (!search.contains(event.target)) list.replaceChildren();
});
list.addEventListener("click", () => list.replaceChildren());
