import { expect, test } from "bun:test";
import { PresageError } from "@presage/sdk";
import { fieldIssues, issueAt, otherIssues, parseJsonObject } from "./form.tsx";

const error = new PresageError("refused", {
  category: "invalid",
  issues: [
    {
      loc: ["body", "name"],
      msg: "Value error, Names that begin with system: are taken",
      type: "value_error",
    },
    { loc: ["body", "config", "kinds", 1], msg: "Input should be 'email'", type: "enum" },
    { loc: ["body", "config", "speed"], msg: "Extra inputs are not permitted", type: "extra_forbidden" },
  ],
});

test("an issue is shown at its field, without its error type", () => {
  expect(issueAt(fieldIssues(error), "name")).toBe("Names that begin with system: are taken");
  expect(issueAt(fieldIssues(error), "description")).toBeUndefined();
});

test("an issue of an item says which one", () => {
  expect(issueAt(fieldIssues(error), "config", "kinds")).toBe("Item 2: Input should be 'email'");
});

test("issues at unknown paths are separated", () => {
  const known = [["name"], ["config", "kinds"]];
  expect(otherIssues(fieldIssues(error), known)).toEqual([
    { path: ["config", "speed"], text: "Extra inputs are not permitted" },
  ]);
});

test("other errors have no issues", () => {
  expect(fieldIssues(new Error("lost"))).toEqual([]);
});

test("a taken name is an issue of the name field, if there is one", () => {
  const conflict = new PresageError("There is one of this name already.", { category: "conflict" });
  expect(fieldIssues(conflict, "name")).toEqual([
    { path: ["name"], text: "There is one of this name already." },
  ]);
  expect(fieldIssues(conflict)).toEqual([]);
  const elsewhere = new PresageError("No example can be used.", { category: "conflict" });
  expect(fieldIssues(elsewhere, "name")).toEqual([]);
});

test("the most common issues have wordings for people", () => {
  const refused = new PresageError("refused", {
    category: "invalid",
    issues: [
      { loc: ["body", "name"], type: "string_too_short", msg: "String should have at least 1 character" },
      { loc: ["body", "title"], type: "string_too_long", msg: "…", ctx: { max_length: 1200 } },
      { loc: ["body", "config", "substrings"], type: "too_short", msg: "List should have at least 1 item" },
    ],
  });
  const issues = fieldIssues(refused);
  expect(issueAt(issues, "name")).toBe("This field is required.");
  expect(issueAt(issues, "title")).toBe("At most 1,200 characters.");
  expect(issueAt(issues, "config", "substrings")).toBe("Add at least one.");
});

test("an object is parsed", () => {
  expect(parseJsonObject('{"threshold": 0.5}')).toEqual({ value: { threshold: 0.5 } });
});

test("invalid JSON, and JSON that is not an object, are issues", () => {
  expect(parseJsonObject('{"threshold":')).toEqual({ issue: expect.stringContaining("Invalid JSON") });
  expect(parseJsonObject("[1]")).toEqual({ issue: "This must be an object: {…}" });
});
