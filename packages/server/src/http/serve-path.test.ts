import { expect, test } from "bun:test";
import { readReturnTo, signInAddress } from "./serve-path.ts";

const returnToOf = (returnTo: string) => readReturnTo(new URL(signInAddress(returnTo), "http://presage"));

test("A path of this server is gone back to as it was, with its query and its fragment", () => {
  for (const path of ["/", "/usage", "/evaluations?app=a%20b&tag=x=y#row-1", "/a//b", "/?a=//b", "/%zz"]) {
    expect(returnToOf(path)).toBe(path);
  }
});

test("Characters that no header allows are encoded", () => {
  expect(returnToOf("/日本?q=ü b%20c")).toBe("/%E6%97%A5%E6%9C%AC?q=%C3%BC%20b%20c");
});

test("Everything that a browser could take for another place is the start", () => {
  for (const elsewhere of [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "/a\\..\\evil",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\r\nset-cookie: a=b",
    "/\u0000",
    "/\u007f",
    " /usage",
    "usage",
    "",
    `/${"a".repeat(2_000)}`,
    `/${"日".repeat(300)}`,
  ]) {
    expect([elsewhere, returnToOf(elsewhere)]).toEqual([elsewhere, "/"]);
  }
  expect(readReturnTo(new URL("http://presage/sign-in"))).toBe("/");
});
