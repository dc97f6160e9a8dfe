import { expect, test } from "bun:test";
import { expectLinear } from "../../../test/support/expect-linear.ts";
import { pii } from "./pii.ts";

function evaluate(output: string, config: Record<string, unknown> = {}) {
  return pii.prepare(pii.config.parse(config))({ output });
}

function found(output: string, config: Record<string, unknown> = {}) {
  const characters = [...output];
  const verdict = evaluate(output, config);
  const kinds = verdict.extra?.found as { kind: string }[];
  return kinds.map(({ kind }, index) => {
    const [start, end] = verdict.positions?.[index] ?? [0, 0];
    return [kind, characters.slice(start, end).join("")];
  });
}

// Numbers from the documentation of their standards or issuers: ISO 13616's registry, RFC 5737, RFC 3849, test cards of the issuers.
test.each([
  ["Write to jo.doe+x@example.org.", "email", "jo.doe+x@example.org"],
  ["😀 <jo@exämple.de>", "email", "jo@exämple.de"],
  ["您好，如果您对这个产品有任何问题，请发送电子邮件到john@example.com", "email", "john@example.com"],
  ["用户@例子.广告", "email", "用户@例子.广告"],
  ["📧josé@example.com", "email", "josé@example.com"],
  ["**иван.p@example.com**", "email", "иван.p@example.com"],
  ["...john@example.com", "email", "john@example.com"],
  [`${"🔥".repeat(33)}x@user.example.com`, "email", "x@user.example.com"],
  ["联系人：john!smith@example.com", "email", "john!smith@example.com"],
  ["メールはjo@example.com", "email", "jo@example.com"],
  ["✉️jo@example.com", "email", "jo@example.com"],
  ...["\ufffd", "\uf0e0", "\u0007", "\u200b".repeat(70), "━".repeat(22)].map((before) => [
    `Bob${before}jo@example.com`,
    "email",
    "jo@example.com",
  ]),
  ...["john!smith", "שלום1", "o~brien", "राम1", "გიorgi"].map((local) => [
    `to ${local}@example.com`,
    "email",
    `${local}@example.com`,
  ]),
  ["\ud83d@user.com jo@example.com", "email", "jo@example.com"],
  ["Call +1 650-253-0000 now", "phone", "+1 650-253-0000"],
  ["😀 +49 30 901820", "phone", "+49 30 901820"],
  ["Card 4111 1111 1111 1111.", "card", "4111 1111 1111 1111"],
  ["378282246310005", "card", "378282246310005"],
  ["4111 1111 1111 1111 12/26", "card", "4111 1111 1111 1111"],
  ["4111111111111111 123", "card", "4111111111111111"],
  ["2 times 3 3782-822463-10005 26", "card", "3782-822463-10005"],
  ["IBAN GB29 NWBK 6016 1331 9268 19 please", "iban", "GB29 NWBK 6016 1331 9268 19"],
  ["DE89370400440532013000 AND MORE", "iban", "DE89370400440532013000"],
  ["at 192.0.2.1:8080", "ip", "192.0.2.1"],
  ["It is 192.0.2.1.", "ip", "192.0.2.1"],
  ["inet addr:192.0.2.1  Mask", "ip", "192.0.2.1"],
  ["add:192.0.2.1:80.", "ip", "192.0.2.1"],
  ["at ::ffff:192.0.2.1.", "ip", "::ffff:192.0.2.1"],
  ["[2001:db8::1]", "ip", "2001:db8::1"],
  ["the net 2001:db8::/32", "ip", "2001:db8::"],
])("%s holds it", (output, kind, value) => {
  expect(found(output)).toEqual([[kind, value]]);
  expect(evaluate(output)).toMatchObject({ pass: false, score: 0 });
});

test.each([
  "",
  "a thermometer, currently reading a temperature of 10 degrees celsius",
  "You move to x=12, y=-3; the time is 12:30:45 on 2026-11-21.",
  "@everyone user@localhost a@b",
  "Card 4111 1111 1111 1112",
  "4111111111111111222233334444",
  "order-4111111111111111",
  "scores 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 9",
  "GB28 NWBK 6016 1331 9268 19",
  "DE89370400440532013000X",
  "std::vector a::b 1.2.3 999.1.1.1 1.2.3.4.5 v1.2.3.4",
  `${"🔥".repeat(33)}x@user`,
  '{"payment_request_id": 6097, "price": 12.99, "created_at": "2023-05-18T12:00:00"}',
])("%j holds nothing", (output) => {
  expect(found(output)).toEqual([]);
  expect(evaluate(output)).toMatchObject({ pass: true, score: 1 });
});

test("each card of a row is found", () => {
  expect(found("4111 1111 1111 1111 378282246310005 7")).toEqual([
    ["card", "4111 1111 1111 1111"],
    ["card", "378282246310005"],
  ]);
});

test("only the kinds of the profile are looked for", () => {
  expect(found("jo@example.org 192.0.2.1", { kinds: ["ip"] })).toEqual([["ip", "192.0.2.1"]]);
});

test("a phone number without a country code needs a default country", () => {
  expect(found("030 901820")).toEqual([]);
  expect(found("030 901820", { default_country: "DE" })).toEqual([["phone", "030 901820"]]);
  expect(pii.config.safeParse({ default_country: "XX" }).success).toBe(false);
});

test("what was found is never shown in full", () => {
  const verdict = evaluate("jo.doe@example.org, 4111111111111111");
  const text = JSON.stringify(verdict.extra) + verdict.explain();
  expect(text).not.toContain("doe");
  expect(text).not.toContain("1111");
  expect(verdict.extra).toEqual({
    count: 2,
    found: [
      { kind: "email", masked: "jo…" },
      { kind: "card", masked: "41…" },
    ],
  });
  expect(verdict.explain()).toBe(
    "The output contains an e-mail address at character 0, a card number at character 20.",
  );
});

test("hostile texts of 50,000 characters are read in time that grows with their length", () => {
  for (const piece of ["@", "a@", "1 ", "1-", "AA11 ", ":", "1.", "+1 ", "a@b.", "0:", "GB29 NWBK "])
    expectLinear((length) => evaluate(piece.repeat(length / piece.length)), 25_000);
});

test("a text with phone numbers is sooner expensive than another", () => {
  const isExpensive = (output: string, profile = {}) =>
    (pii.estimateMs?.({ output }, pii.config.parse(profile)) ?? 0) > 1;
  expect(isExpensive("x".repeat(1_000))).toBe(false);
  expect(isExpensive("+49 30 1234567 ".repeat(70))).toBe(true);
  expect(isExpensive("+49 30 1234567 ".repeat(70), { kinds: ["email"] })).toBe(false);
});
