import { expect, test } from "bun:test";
import { sentFields } from "./prompt-tab.tsx";

test("unset parameters are sent with the server’s values", () => {
  expect(sentFields(undefined, "presage-sandbox")).toEqual([
    { name: "model", value: '"presage-sandbox"', note: "server default" },
    { name: "max_tokens", value: "512", note: "default" },
    { name: "temperature", value: "0.2", note: "default" },
    { name: "top_p", value: "1", note: "default" },
  ]);
});

test("set parameters replace the defaults", () => {
  const fields = sentFields({ temperature: 0, top_p: 0.5, max_completion_tokens: 9, seed: null }, undefined);
  expect(fields).toEqual([
    { name: "temperature", value: "0" },
    { name: "top_p", value: "0.5" },
    { name: "max_completion_tokens", value: "9" },
  ]);
});

test("a parameter that is also sent elsewhere says so", () => {
  const thinking = sentFields({ enable_thinking: false }, undefined).at(-1);
  expect(thinking).toEqual({
    name: "enable_thinking",
    value: "false",
    note: "also sent as chat_template_kwargs.enable_thinking",
  });
});
