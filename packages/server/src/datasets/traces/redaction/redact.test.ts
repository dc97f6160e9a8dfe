import { describe, expect, test } from "bun:test";
import { isWholeRun } from "../../../../test/support/whole-run.ts";
import { createRedactor, readRedactRules } from "./redact.ts";

const letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
const some = (length: number) => letters.repeat(10).slice(0, length);
/** Assembled here, so that no scanner mistakes this file for a leak. */
const of = (...parts: string[]) => parts.join("");
const json64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = `${json64({ alg: "HS256", typ: "JWT" })}.${json64({ sub: "1234567890" })}.${some(43)}`;
const pem = (break_: string, kind = "RSA ") =>
  [
    `-----BEGIN ${kind}PRIVATE`,
    " KEY-----",
    break_,
    some(64),
    break_,
    some(40),
    break_,
    `-----END ${kind}PRIVATE KEY-----`,
  ].join("");
const awsSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY";

const tokens: [kind: string, secret: string][] = [
  ["anthropic", of("sk-", "ant-api03-", some(93), "-AA")],
  ["openai", of("sk-", some(20), "T3BlbkFJ", some(20))],
  ["openai", of("sk-", "proj-", some(60), "_x-", some(60))],
  ["openai", of("sk-", "svcacct-", some(60))],
  ["openai", of("sk-", "or-v1-", "0a".repeat(32))],
  ["google", of("AI", "za", some(30), "-_xyz")],
  ["aws_key_id", of("AK", "IA", "IOSFODNN7EXAMPLE")],
  ["aws_key_id", of("AS", "IA", "IOSFODNN7EXAMPL2")],
  ...[..."pousr"].map((letter): [string, string] => ["github", of("gh", letter, "_", some(36))]),
  ["github", of("github", "_pat_", some(22), "_", some(59))],
  ["gitlab", of("gl", "pat-", some(20))],
  ["gitlab", of("gl", "pat-", some(27), ".01.0a1b2c3d4")],
  ["slack", of("xo", "xb-", "123456789012-", some(24))],
  ["slack", of("xa", "pp-", "1-A0123-", some(24))],
  ["stripe", of("sk", "_live_", some(24))],
  ["stripe", of("rk", "_live_", some(99))],
  ["huggingface", of("h", "f_", some(34))],
  ["npm", of("np", "m_", some(36))],
  ["presage", of("ps", "g_", some(38))],
  ["presage", of("ps", "s_", some(38))],
  ["presage", of("ps", "c_", some(40), "-_x")],
  ["jwt", jwt],
  ["private_key", pem("\n")],
  ["private_key", pem("\\n", "")],
  ["private_key", pem("\n", "OPENSSH ")],
  ["private_key", pem("\r\n", "EC ")],
];

const announced: [kind: string, before: string, secret: string, after: string][] = [
  ["authorization", "Authorization: Bearer ", some(20), "\r\nAccept: */*"],
  ["authorization", "authorization: Basic ", btoa("me:secret"), ""],
  ["authorization", "Proxy-Authorization: Basic ", btoa("me:secret"), ""],
  ["authorization", 'curl -H "Authorization: Token ', some(12), '" https://example.org'],
  ["authorization", '{"headers": {"Authorization": "Bearer ', "abc.def", '"}}'],
  ["authorization", '{\\"headers\\":{\\"Authorization\\":\\"Bearer ', "abc.def", '\\"}}'],
  ["authorization", "headers={'Authorization': '", some(24), "'}"],
  ["authorization", '{"Authorization":"OAuth ', some(40), '"}'],
  ["authorization", "Authorization: Bot ", `${some(26)}.Ab-cD_.${some(27)}`, "\n"],
  ["authorization", "Authorization: SSWS ", some(42), ""],
  ["authorization", "Authorization: GenieKey ", "eb243592-faa2-4ba2-a551-1afdf565c889", ""],
  ["authorization", "Authorization: AWS ", `${some(20)}:frJIUN8DYpKDtOLCwo//yllqDzg=`, ""],
  [
    "authorization",
    'curl -H "Authorization: AWS4-HMAC-SHA256 ',
    `Credential=x/20130524/s3, SignedHeaders=host;x-amz-date, Signature=${"0a".repeat(32)}`,
    '" https://x',
  ],
  [
    "authorization",
    '{\\"Authorization\\":\\"OAuth ',
    `oauth_token=\\\\\\"${some(16)}\\\\\\",oauth_signature=\\\\\\"wOJIO9A2W%2FPY%3D\\\\\\"`,
    '\\"}',
  ],
  ["authorization", 'request.setHeader("Authorization", "Bearer ', some(24), '")'],
  ["authorization", "sent Bearer ", some(24), " to it"],
  ["authorization", "sent Basic ", btoa("me:secret"), " to it"],
  ["url_password", "postgres://me:", "pa55%20w:rd", "@db.example.org:5432/x"],
  ["url_password", "redis://:", "hunter2", "@localhost"],
  ["url_password", "postgres://u:", "p4ss@w0rd99", "@host/db"],
  ["url_password", '"postgres://u:', "pa/ss?w#rd@1", '@host/db", a@b'],
  ["aws_secret", 'aws_secret_access_key = "', awsSecret, '"'],
  ["aws_secret", '"SecretAccessKey": "', awsSecret, '", "x": 1'],
  ["aws_secret", "<SecretAccessKey>", awsSecret, "</SecretAccessKey>"],
  ["private_key", "cut off: ", pem("\n").slice(0, 120), "\n[truncated]"],
];

describe("by default", () => {
  test.each(tokens)("a secret of kind %s becomes a placeholder: %#", (kind, secret) => {
    for (const [before, after] of [
      ["", ""],
      ["x = ", "."],
      ['{"a":"', '"}'],
      ["line\\n", "\\nline"],
      ["a%3D", "&b"],
      ["(", ")"],
    ] as const) {
      const { redact, counts } = createRedactor("default");
      expect(redact(`${before}${secret}${after}`)).toBe(`${before}[redacted:${kind}#1]${after}`);
      expect(counts()).toEqual({ [kind]: 1 });
    }
  });

  test.each(announced)("a %s after %s becomes a placeholder", (kind, before, secret, after) => {
    const { redact, counts } = createRedactor("default");
    expect(redact(before + secret + after)).toBe(`${before}[redacted:${kind}#1]${after}`);
    expect(counts()).toEqual({ [kind]: 1 });
  });

  test("a secret key stands beside the id of a key", () => {
    const { redact } = createRedactor("default");
    const sha = "3f786850e387550fdab836ed7e6dc881de23001b";
    expect(redact(`${of("AK", "IA", "IOSFODNN7EXAMPLE")},${awsSecret},${sha}`)).toBe(
      `[redacted:aws_key_id#1],[redacted:aws_secret#1],${sha}`,
    );
    expect(redact(`${"x ".repeat(500)}${awsSecret}`)).toContain(awsSecret);
  });

  test.each([
    "sk-learn, disk-usage and task-runner-with-a-very-long-name-1",
    'class="sk-estimator-doc-link fitted sk-toggleable__label-arrow1"',
    "3f786850e387550fdab836ed7e6dc881de23001b 3f786850-e387-550f-bab8-36ed7e6dc881",
    `sha256:${"0a".repeat(32)} sha512-${"ab+/".repeat(21)}ab==`,
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAeyJhbGciOiJAIzaIUzI1NiJ9AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAhf_AAAAAAAAA",
    "hf_hub_download npm_config_registry ghp_short psg_short eyJhbGciOiJIUzI1NiJ9",
    "The bearer of this letter. Basic authentication needs a name. Bearer authentication-is-not-enough-here",
    "Authorization: required. authorization is needed; authorization = await getToken1234567Session(x); authorization, see https://example.org/section-12; Authorization: Bearer <token>, Bearer $TOKEN, Bearer $" +
      "{TOKEN}",
    "https://example.org:8080/@me http://{host}:{port}/a@b https://me@example.org/a:b@c http://a:$PASSWORD@b http://a:***@b",
    "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    "looks for -----BEGIN RSA PRIVATE KEY----- in a file",
    "[redacted:openai#12] Authorization: Bearer [redacted:authorization#3] a://b:[redacted:url_password#1]@c",
    "password=hunter2 token: abc me@example.org +41 44 668 18 00",
  ])("no secret: %s", (text) => {
    const { redact, counts } = createRedactor("default");
    expect(redact(text)).toBe(text);
    expect(counts()).toEqual({});
  });

  test("the same secret has the same number, wherever it stands", () => {
    const { redact, redactValue, counts } = createRedactor("default");
    const [one, other] = [of("gh", "p_", some(36)), of("gh", "p_", some(40))];
    expect(redact(`${one} ${other} ${one}`)).toBe(
      "[redacted:github#1] [redacted:github#2] [redacted:github#1]",
    );
    expect(redact(`Authorization: Bearer ${other}`)).toBe("Authorization: Bearer [redacted:github#2]");
    expect(redact(`https://me:${one}@github.com`)).toBe("https://me:[redacted:github#1]@github.com");
    expect(redactValue({ deep: [{ key: one }] })).toEqual({ deep: [{ key: "[redacted:github#1]" }] });
    expect(redact(jwt)).toBe("[redacted:jwt#1]");
    expect(redact(pem("\n")) + redact(pem("\\n"))).toBe("[redacted:private_key#1]".repeat(2));
    expect(counts()).toEqual({ github: 2, jwt: 1, private_key: 1 });
  });

  test("values are redacted in their fields and their names, and else remain the same", () => {
    const { redactValue } = createRedactor("default");
    const key = of("gh", "p_", some(36));
    const clean = { a: [1, null, true, { b: "text" }], authorization: "required" };
    expect(redactValue(clean)).toBe(clean);
    expect(
      redactValue({
        [key]: 1,
        headers: { Authorization: ["Bearer abc", `Basic ${btoa("a:b")}`] },
        credentials: { secretAccessKey: awsSecret },
        [`${key}_authorization`]: `Bearer ${"x".repeat(9)} ${key}`,
        ["__proto__"]: key,
      }),
    ).toEqual({
      "[redacted:github#1]": 1,
      headers: { Authorization: ["Bearer [redacted:authorization#1]", "Basic [redacted:authorization#2]"] },
      credentials: { secretAccessKey: "[redacted:aws_secret#1]" },
      "[redacted:github#1]_authorization": "Bearer [redacted:authorization#3] [redacted:github#1]",
      ["__proto__"]: "[redacted:github#1]",
    });
  });
});

test("none leaves all as it is", () => {
  const { redact, redactValue, counts } = createRedactor("none");
  const value = { a: jwt };
  expect(redact(jwt)).toBe(jwt);
  expect(redactValue(value)).toBe(value);
  expect(counts()).toEqual({});
});

describe("strict", () => {
  test.each<[text: string, redacted: string]>([
    ["password=hunter2", "password=[redacted:value#1]"],
    ["login --password hunter2 --user me", "login --password [redacted:value#1] --user me"],
    ["login --api-key=hunter2", "login --api-key=[redacted:value#1]"],
    ["The password: hunter2. Go on", "The password: [redacted:value#1]. Go on"],
    ["GET /x?access_token=hunter2&a=b", "GET /x?access_token=[redacted:value#1]&a=b"],
    ['{"db_password": "hun\\"ter 2", "a": 1}', '{"db_password": "[redacted:value#1]", "a": 1}'],
    ['{\\"token\\": \\"hunter2\\", \\"a\\": 1}', '{\\"token\\": \\"[redacted:value#1]\\", \\"a\\": 1}'],
    ["{'apiKey': 'hunter2'}", "{'apiKey': '[redacted:value#1]'}"],
    ['{"token": "Bearer hunter2"}', '{"token": "Bearer [redacted:value#1]"}'],
    ["PGPASSWORD='hunter2' psql", "PGPASSWORD='[redacted:value#1]' psql"],
    [
      "x-api-key: hunter2\nclient_secret: hunter2",
      "x-api-key: [redacted:value#1]\nclient_secret: [redacted:value#1]",
    ],
    [`token: ${of("h", "f_", some(34))}`, "token: [redacted:huggingface#1]"],
  ])("a value by its name: %s", (text, redacted) => {
    const { redact } = createRedactor("strict");
    expect(redact(text)).toBe(redacted);
  });

  test.each([
    '"prompt_tokens": 12, "max_tokens": 5, "token_count": 3, "secret_name": "x"',
    "def f(token: str, password: Optional[str] = None): token = get_token(); secret = settings[1]",
    '{"password": null, "token": "", "secret": "$SECRET", "api_key": "<key>", "password": "****"}',
    "a token of love, and the secret was kept",
    'password: [redacted:value#1], "token": "[redacted:jwt#1]"',
  ])("no value: %s", (text) => {
    expect(createRedactor("strict").redact(text)).toBe(text);
  });

  test("fields by their names", () => {
    const { redactValue, counts } = createRedactor("strict");
    const value = {
      password: "a b",
      apiKey: ["x1", "x2"],
      passcode: 1234,
      token: true,
      n: { accessToken: "x1" },
    };
    expect<object>(redactValue(value)).toEqual({
      password: "[redacted:value#1]",
      apiKey: ["[redacted:value#2]", "[redacted:value#3]"],
      passcode: "[redacted:value#4]",
      token: true,
      n: { accessToken: "[redacted:value#2]" },
    });
    expect(counts()).toEqual({ value: 4 });
  });
});

describe("rules", () => {
  const rules = readRedactRules(
    'rules:\n  - name: customer\n    pattern: "CUST-\\\\d{6}"\n  - {name: number, pattern: "\\\\d+"}\nemails: true\nphones: true\n',
  );

  test("what they name, e-mail addresses and phone numbers", () => {
    const { redact, counts } = createRedactor("default", rules);
    expect(
      redact("CUST-123456 wrote to me@example.org, and called +41 44 668 18 00 from a+1@example.org"),
    ).toBe(
      "[redacted:customer#1] wrote to [redacted:email#1], and called +[redacted:number#1] [redacted:number#2] [redacted:number#3] [redacted:number#4] [redacted:number#5] from a+[redacted:number#6]@example.org",
    );
    expect(counts()).toEqual({ customer: 1, email: 1, number: 6 });
    const contacts = createRedactor("default", readRedactRules('{"emails": true, "phones": true}'));
    expect(contacts.redact("a@example.org: +41 44 668 18 00, redis://x:pw@example.org")).toBe(
      "[redacted:email#1]: [redacted:phone#1], redis://x:[redacted:url_password#1]@example.org",
    );
  });

  test("a placeholder is not matched, and what overlaps a secret takes all of it", () => {
    const { redact } = createRedactor("default", rules);
    expect(redact("[redacted:customer#7] 7")).toBe("[redacted:customer#7] [redacted:number#1]");
    expect(redact("[redacted:other#7] CUST-123456")).toBe("[redacted:other#7] [redacted:customer#8]");
    const part = createRedactor(
      "default",
      readRedactRules('{"rules": [{"name": "part", "pattern": "x gh"}]}'),
    );
    expect(part.redact(`x ${of("gh", "p_", some(36))} y`)).toBe("[redacted:part#1] y");
  });

  test.each<[text: string, reason: RegExp]>([
    ["a: [", /^not valid YAML at character/],
    ["a: &x 1\nemails: *x", /alias/i],
    ["- 1", /expected object/],
    ["email: true", /email/],
    ["emails: 1", /^emails: .*boolean/],
    ["rules: [{name: A b, pattern: x}]", /^rules: 0: name: expected up to 40/],
    ["rules: [{name: a, pattern: '(x'}]", /^rules: 0: pattern: .*missing closing/],
    ["rules: [{name: a, pattern: '(?=x)y'}]", /^rules: 0: pattern: error parsing/],
    ["rules: [{name: a, pattern: 'x*'}]", /^rules: 0: pattern: it matches the empty text$/],
    ["rules: [{name: a, pattern: ''}]", /^rules: 0: pattern/],
    [JSON.stringify({ rules: Array(3).fill({ name: "a", pattern: "\\d{900}" }) }), /steps per character/],
    [JSON.stringify({ rules: Array(51).fill({ name: "a", pattern: "x" }) }), /^rules: .*50/],
  ])("refused: %s", (text, reason) => {
    expect(() => readRedactRules(text)).toThrow(reason);
  });
});

test("what was redacted once is not changed again", () => {
  const rules = readRedactRules('{"rules": [{"name": "r", "pattern": "[a-c]{3,}"}], "emails": true}');
  const pieces = [
    ...tokens.map(([, secret]) => secret),
    ...announced.map(([, before, secret, after]) => before + secret + after),
    ...[
      "password",
      "token=",
      '"secret": "',
      "'",
      '\\"',
      " ",
      ": ",
      "=",
      "--api-key ",
      "abc",
      "Basic ",
      "://a:",
      "@b.org",
    ],
    ...[
      "Authorization: ",
      "Bearer ",
      "[redacted:x#1]",
      ",",
      "(",
      "\n",
      "-----BEGIN PRIVATE KEY-----",
      some(16),
      "eyJ",
      ".",
    ],
  ];
  let seed = 7;
  const pick = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return pieces[seed % pieces.length] ?? "";
  };
  for (const redaction of ["default", "strict"] as const) {
    for (let round = 0; round < (isWholeRun ? 3_000 : 500); round += 1) {
      const text = Array.from({ length: 1 + (round % 9) }, pick).join("");
      const once = createRedactor(redaction, rules).redact(text);
      expect({ text, again: createRedactor(redaction, rules).redact(once) }).toEqual({ text, again: once });
    }
  }
});

const characters = isWholeRun ? 1_000_000 : 250_000;
/** Processor time, since other tests run at the same time. */
const maxMs = characters / 250;
const processorMs = () => process.cpuUsage().user / 1_000;

test.each([
  ...[...'a1-_./:=+\\" \n@', "://", "://a:", "://a:b@", "a@", "+1 "],
  ...[
    "sk-",
    "sk-a1",
    "sk-ant-",
    "eyJ",
    "eyJaaaaaaaa.",
    ".eyJ",
    "ghp_",
    "AIza",
    "AKIA",
    "AKIAIOSFODNN7EXAMPLE,",
    "xoxb-",
  ],
  ...[
    "-----",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nabc",
    "-----BEGIN A ",
  ],
  ...[
    "Authorization",
    "Authorization:",
    "Authorization=",
    "Authorization: Bearer ",
    "Authorization: x a1=b,",
    'Authorization: x a1="',
    "Authorization: a1",
    "://a:/@b",
    "Bearer ",
    "Basic ",
    "Basic YTpi",
  ],
  ...[
    "password",
    "password:",
    "password=",
    'password="',
    'password=\\"',
    "--password ",
    "token=Bearer ",
    '"token":"\\',
    "key",
  ],
  ...[
    "secretAccessKey",
    "secretAccessKey=",
    "[redacted:",
    "[redacted:a#1]",
    "[redacted:a#1] token=x ",
    "password=.....",
  ],
])("a long text of %j takes linear time", (piece) => {
  const text = piece.repeat(Math.ceil(characters / piece.length));
  const startedAt = processorMs();
  for (const ending of ["!", "a1"]) createRedactor("strict").redact(text + ending);
  expect(processorMs() - startedAt).toBeLessThan(maxMs);
});
