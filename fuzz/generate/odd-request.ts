import { METHODS } from "node:http";
import type { Operation } from "../document.ts";
import type { Draw } from "./draw.ts";
import { hostileText } from "./mutate-value.ts";
import type { Mutation, Plan } from "./plan.ts";

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
      // Several long ones are too long for a request's head.
      allows: [...plan.allows, 404, 405, 431],
    }),
  };
}

/** Never a path segment that would make this another operation with a longer path. */
export function oddPathSuffix(draw: Draw): Mutation {
  const suffix = draw.pick(["/", "//", "/.", "/..", "%20", "%00", ";x=1", ".json", "#x"]);
  return {
    name: `path and ${suffix}`,
    apply: (plan) => ({
      ...plan,
      pathSuffix: suffix,
      allows: [...plan.allows, 404, 405],
      // Below this page are others, and one that is missing answers as a page.
      isMalformed: plan.isMalformed || plan.operation.id === "getDocs",
    }),
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

type Header = [name: string, value: string];

/** Each character of a header's value is one byte. */
const oddHeaders: readonly Header[] = [
  ["idempotency-key", ""],
  ["idempotency-key", "x".repeat(200)],
  ["idempotency-key", "x".repeat(201)],
  ["idempotency-key", "two words"],
  ["idempotency-key", "\u00c3\u00a9"],
  ["x-request-id", ""],
  ["x-request-id", "x".repeat(129)],
  ["x-request-id", "a b"],
  ["x-request-id", "<script>"],
  ["x-request-id", "\u00ff\u00fe"],
  ["traceparent", "00-00000000000000000000000000000000-0000000000000000-00"],
  ["traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  ["traceparent", "x".repeat(500)],
  ["tracestate", "=,=,="],
  ["baggage", "a=%ff;b"],
  ["cookie", "presage_session_00000000=x"],
  ["cookie", "=; ;;=x; a"],
  ["cookie", `a=${"x".repeat(4_000)}`],
  ["x-csrf-token", "x"],
  ["origin", "https://evil.example"],
  ["origin", "null"],
  ["sec-fetch-site", "cross-site"],
  ["accept", "text/html"],
  ["accept", "application/xml;q=x, */*;q=-1"],
  ["accept-encoding", "gzip, br, zstd"],
  ["accept-encoding", "gzip;q=0, *;q=abc"],
  ["accept-language", "*;q=0"],
  ["content-type", "text/plain"],
  ["content-type", "application/x-www-form-urlencoded"],
  ["content-type", "multipart/form-data"],
  ["content-type", "application/json; charset=utf-16"],
  ["content-type", ";;"],
  ["content-type", ""],
  ["content-encoding", "gzip"],
  ["content-encoding", "x"],
  ["if-none-match", "*"],
  ["if-modified-since", "x"],
  ["range", "bytes=0-1"],
  ["range", "bytes=9-1,x"],
  ["x-forwarded-for", "127.0.0.1, ::1"],
  ["x-forwarded-host", "evil.example"],
  ["x-forwarded-proto", "gopher"],
  ["forwarded", "for=_x;host=evil.example"],
  ["x-http-method-override", "DELETE"],
  ["connection", "close"],
  ["connection", "upgrade, x-api-key"],
  ["upgrade", "websocket"],
  ["upgrade", "h2c"],
  ["expect", "100-continue"],
  ["te", "trailers"],
  ["via", "1.1 x"],
  ["max-forwards", "-1"],
  ["constructor", "x"],
  ["__proto__", "x"],
];

const malformedHeaders: readonly Header[] = [
  ["content-length", "-1"],
  ["content-length", "x"],
  ["content-length", "99999999999999999999"],
  ["transfer-encoding", "gzip, chunked"],
  ["transfer-encoding", "x"],
  ["x-odd", "a\u0000b"],
  ["x-odd", "a\rb"],
  ["x odd", "a"],
  ["", "a"],
  ["x-odd", "x".repeat(40_000)],
  ["host", "other"],
];

export function oddHeader(draw: Draw): Mutation {
  const header = draw.pick(oddHeaders);
  const allows = header[0] === "sec-fetch-site" || header[0] === "x-csrf-token" ? [403] : [];
  return {
    name: `header ${header[0]}`,
    apply: (plan) => withHeader(plan, header, { allows: [...plan.allows, ...allows] }),
  };
}

export function malformedHead(draw: Draw): Mutation {
  const header = draw.pick(malformedHeaders);
  return {
    name: `malformed header ${header[0]}`,
    apply: (plan) => withHeader(plan, header, { isMalformed: true }),
  };
}

export function manyHeaders(draw: Draw): Mutation {
  const count = draw.pick([50, 90, 150, 300]);
  const headers = Array.from({ length: count }, (_, index): Header => [`x-h-${index}`, "x"]);
  return {
    name: `${count} headers`,
    apply: (plan) => ({
      ...plan,
      headers: [...plan.headers, ...headers],
      isMalformed: plan.isMalformed || count > 90,
    }),
  };
}

function withHeader(plan: Plan, header: Header, more: Partial<Plan>): Plan {
  return { ...plan, headers: [...plan.headers, header], ...more };
}

const oddAuthorizations = [
  "",
  "Bearer",
  "Bearer ",
  "Bearer  x  y",
  "bearer x",
  "Basic Og==",
  "Basic \u00ff",
  "Digest x",
  "psg_",
  `Bearer ${"x".repeat(8_000)}`,
  `Bearer psg_${"A".repeat(38)}`,
];

/** An invalid credential, or another caller's. */
export function oddCredential(draw: Draw): Mutation {
  const name = draw.pick(["authorization", "x-api-key"]);
  const header: Header = [name, draw.pick(oddAuthorizations)];
  const isNobody = draw.chance(0.4);
  return {
    name: `credential ${name}`,
    apply: (plan) =>
      withHeader(plan, header, {
        caller: isNobody ? "nobody" : plan.caller,
        mayBeUnknown: true,
      }),
  };
}

/** The same key twice, which HTTP joins with a comma. */
export function credentialTwice(): Mutation {
  return {
    name: "credential twice",
    apply: (plan) => ({
      ...plan,
      headers: [...plan.headers, ["x-api-key", "@@own@@"], ["authorization", "Bearer @@own@@"]],
      mayBeUnknown: true,
    }),
  };
}

const otherMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"];
const strangeMethods = ["get", "Post", "FOO", "PROPFIND", "QUERY", "M-SEARCH", "X".repeat(50)];

/** Another method, possibly that of another operation. */
export function oddMethod(draw: Draw, operations: readonly Operation[]): Mutation {
  const method = draw.pick(draw.chance(0.7) ? otherMethods : strangeMethods);
  return {
    name: `method ${method}`,
    apply(plan) {
      const served = method === "HEAD" ? "GET" : method;
      const operation = operations.find(
        ({ path, method }) => path === plan.operation.path && method === served,
      );
      if (operation !== undefined) return { ...plan, method, operation };
      // If its parser does not know a method, Bun closes the connection before Presage sees the request.
      if (!METHODS.includes(method)) return { ...plan, method, isMalformed: true };
      return { ...plan, method, allows: [...plan.allows, 405] };
    },
  };
}

export function oddHost(draw: Draw): Mutation {
  const host = draw.pick([
    undefined,
    "",
    "a b",
    "[::1",
    "x:99999",
    "\u00e9",
    "a/b",
    "@",
    "x".repeat(300),
    "%00",
  ]);
  return {
    name: `host ${host}`,
    apply: (plan) => ({ ...plan, host, isMalformed: true }),
  };
}
