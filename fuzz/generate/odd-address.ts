import type { Draw } from "./draw.ts";
import { hostileText } from "./hostile-values.ts";
import type { Mutation } from "./plan.ts";

const oddParameters = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2F",
  "a%2Fb",
  "%00",
  "%",
  "%zz",
  "%ff",
  "%c0%ae",
  "%ed%a0%80",
  "%F0%9F%98%80",
  "a;b=c",
  "a+b",
  "*",
  ":id",
  "{id}",
  "null",
  "0",
  "-1",
  "1.0",
  "1e3",
  "%31",
  "9007199254740993",
  "9223372036854775808",
  "1".repeat(400),
  "x".repeat(5_000),
  "00000000-0000-0000-0000-000000000000",
  "{00000000-0000-4000-8000-000000000000}",
  "urn:uuid:00000000-0000-4000-8000-000000000000",
  "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
];

export function oddPathParameter(draw: Draw): Mutation {
  const value = draw.chance(0.7) ? draw.pick(oddParameters) : percentEncoded(hostileText(draw, [100]));
  return {
    name: "path parameter",
    apply: (plan) => ({
      ...plan,
      pathParameters: Object.fromEntries(Object.keys(plan.pathParameters).map((name) => [name, value])),
      allows: [...plan.allows, 404, 405],
    }),
  };
}

/** Never a path segment that would make this another operation with a longer path. */
export function oddPathSuffix(draw: Draw): Mutation {
  const suffix = draw.pick(["/", "//", "/.", "/..", "%20", "%00", ";x=1", ".json", "#x"]);
  return {
    name: `path and ${suffix}`,
    apply: (plan) => ({ ...plan, pathSuffix: suffix, allows: [...plan.allows, 404, 405] }),
  };
}

const querySuffixes = [
  "%",
  "%zz=%ff",
  "limit=%ff%fe",
  "=&=&&",
  "limit",
  "limit[]=1&limit[a]=2",
  "a".repeat(6_000),
  "limit=1e999",
  "limit=0x10&offset=+5",
  "limit=-0",
  "offset=9007199254740993",
  "__proto__=1&constructor=2",
  "?",
  "tags=%7B%22a%22%3A1%7D",
  "tags=[",
  Array.from({ length: 500 }, (_, index) => `p${index}=1`).join("&"),
];

export function oddQuerySuffix(draw: Draw): Mutation {
  const suffix = draw.pick(querySuffixes);
  return { name: "query suffix", apply: (plan) => ({ ...plan, querySuffix: suffix }) };
}

/** One of the operation's own parameters, duplicated or with a value that is probably invalid. */
export function oddQueryValue(draw: Draw, limits: readonly number[]): Mutation {
  const place = draw.below(1_000_000);
  const value = hostileText(
    draw,
    limits.filter((limit) => limit < 300),
  );
  const isTwice = draw.chance(0.3);
  return {
    name: "query value",
    apply(plan) {
      const names = plan.operation.parameters.filter((parameter) => parameter.in === "query");
      const name = names[place % names.length]?.name ?? "odd";
      const others = isTwice ? plan.query : plan.query.filter((item) => item[0] !== name);
      return { ...plan, query: [...others, [name, value]] };
    },
  };
}

/** As UTF-8. A lone surrogate becomes the replacement character, because no URL can contain it. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
