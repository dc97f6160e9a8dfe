import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import ZipStream from "zip-stream";
import { type Found, readParts } from "./documents.ts";

const objects = [{ a: 1 }, { b: 'x"\\{[' }, { c: [1, { d: "é€😀" }] }];
const texts: Record<string, [string, "line" | "document"]> = {
  "JSON lines": [objects.map((one) => JSON.stringify(one)).join("\n"), "line"],
  "lines with blank ones and a byte order mark": [
    `\ufeff\n${objects.map((one) => `${JSON.stringify(one)}\r\n\n`).join("")}`,
    "line",
  ],
  "an array": [JSON.stringify(objects), "document"],
  "an array over lines": [JSON.stringify(objects, null, 2), "document"],
  "objects over lines": [objects.map((one) => JSON.stringify(one, null, 2)).join("\n"), "document"],
  "lines cut out of an array": [objects.map((one) => `  ${JSON.stringify(one)},\n`).join(""), "document"],
  "lines with commas before them": [objects.map((one) => JSON.stringify(one)).join("\n, "), "line"],
  "objects in one line": [objects.map((one) => JSON.stringify(one)).join(""), "document"],
  "objects with commas in one line": [objects.map((one) => JSON.stringify(one)).join(", "), "document"],
};

async function read(bytes: Uint8Array, chunkBytes = bytes.length, maxBytes = 100_000_000): Promise<Found[]> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes);
  }
  const found: Found[][] = [];
  for await (const { documents, isForeign } of readParts(chunks(), { maxBytes }))
    if (!isForeign) found.push(...(await Array.fromAsync(documents)));
  return found.flat();
}

const valuesOf = (found: readonly Found[]) =>
  found.map((one) => ("document" in one ? one.document.value : one.fault.reason));

for (const [name, [text, unit]] of Object.entries(texts)) {
  test(`${name}: the same documents at any boundary of chunks, plain, gzip and zstd`, async () => {
    const bytes = Buffer.from(text);
    for (const packed of [bytes, gzipSync(bytes), zstdCompressSync(bytes)])
      for (const chunkBytes of [1, 2, 3, 7, packed.length]) {
        const found = await read(packed, chunkBytes);
        expect(valuesOf(found)).toEqual(objects);
        expect(found.every((one) => "document" in one && one.document.place[0] === unit)).toBe(true);
      }
  });
}

test("an object's known array gives its elements, with the fields around it", async () => {
  const document = {
    info: { policy: "p" },
    tasks: [1],
    simulations: [{ id: 1 }, { id: 2, data: [{}] }],
    after: [{}],
  };
  for (const text of [JSON.stringify(document), JSON.stringify(document, null, 1)])
    for (const chunkBytes of [1, 1000])
      expect(
        (await read(Buffer.from(`${text}\n`), chunkBytes)).map((one) =>
          "document" in one ? [one.document.value, one.document.within, one.document.envelope] : one,
        ),
      ).toEqual(
        document.simulations.map((one) => [
          one,
          "simulations",
          { info: { policy: "p" }, tasks: [1], after: [{}] },
        ]),
      );
});

test("of a long object the elements have the fields before the array", async () => {
  const simulations = [{ id: 1, text: "x".repeat(5_000_000) }, { id: 2 }];
  const found = await read(Buffer.from(JSON.stringify({ a: 1, simulations, b: 2 }, null, 1)), 65_536);
  expect(found).toMatchObject(
    simulations.map((value) => ({ document: { value, within: "simulations", envelope: { a: 1 } } })),
  );
  expect(found[0]).not.toHaveProperty("document.envelope.b");
});

test("an object with messages is whole, and so is one whose array has no objects", async () => {
  for (const one of [{ messages: [], data: [{ a: 1 }] }, { data: ["id-1"] }, { data: [] }, { runs: 1 }])
    for (const text of [JSON.stringify(one), JSON.stringify(one, null, 1)])
      expect(valuesOf(await read(Buffer.from(text), 3))).toEqual([one]);
});

test("a page of observations gives them, a trace with an id and observations is whole", async () => {
  const observations = [{ id: "o1" }, { id: "o2" }];
  for (const indent of [0, 1]) {
    const found = (one: object) => read(Buffer.from(JSON.stringify(one, null, indent)), 5);
    expect(valuesOf(await found({ meta: {}, observations }))).toEqual(observations);
    for (const trace of [
      { id: "t1", observations },
      { observations, id: "t1" },
    ])
      expect(valuesOf(await found(trace))).toEqual([trace]);
  }
});

test("the order of keys does not decide, and two known arrays are a fault", async () => {
  const [data, runs, messages] = [[{ a: 1 }], [{ b: 1 }], [{ role: "user" }]];
  const both = "Both `data` and `runs` may be its documents: leave one of them out";
  const cases: [object, unknown[]][] = [
    [{ id: "t", data, messages }, [{ id: "t", data, messages }]],
    [{ samples: [{ messages }], messages }, [{ samples: [{ messages }], messages }]],
    [{ data, runs }, [both]],
    [{ data, runs: [] }, data],
  ];
  for (const [one, values] of cases)
    for (const text of [JSON.stringify(one), JSON.stringify(one, null, 1)])
      expect(valuesOf(await read(Buffer.from(text), 5))).toEqual(values);
  const long = { data: [{ a: "x".repeat(5_000_000) }], runs };
  expect(valuesOf(await read(Buffer.from(JSON.stringify(long, null, 1)), 65_536))).toEqual([
    ...long.data,
    both,
  ]);
});

test("a broken line is a fault, and the others are read", async () => {
  const found = await read(Buffer.from('{"a":1}\n{"b":\n{"c":1}\n\xff'));
  expect(valuesOf(found)).toEqual([{ a: 1 }, "The line is not JSON", { c: 1 }, "The line is not JSON"]);
});

test("a line over 16 MiB is a fault, and the others are read, at its end too", async () => {
  const long = `{"a":"${"x".repeat(17_000_000)}"}`;
  const reason = "The line is longer than 16777216 bytes";
  const found = await read(Buffer.from(['{"a":1}', long, '{"b":1}', long].join("\n")), 1_000_000);
  expect(valuesOf(found)).toEqual([{ a: 1 }, reason, { b: 1 }, reason]);
  expect(found.flatMap((one) => ("fault" in one ? one.fault.place[1] : []))).toEqual([2, 4]);
});

test("what is too large is told with the limit that was set, of several files too", async () => {
  const limits = { maxBytes: 100 };
  const file = async (bytes: Uint8Array) => {
    const chunks = (async function* () {
      yield bytes;
    })();
    for await (const { documents } of readParts(chunks, limits)) await Array.fromAsync(documents);
  };
  await file(Buffer.from(`{"a":"${"x".repeat(60)}"}`));
  expect(file(Buffer.from(`{"a":"${"x".repeat(60)}"}`))).rejects.toThrow("larger than 100 bytes");
});

test("numbers that Python writes and JSON does not have are told", async () => {
  const reason = (what: string) => `The ${what} is not JSON: it has NaN or Infinity. Write null for them`;
  const texts = ['{"a":NaN}', '{"a":"NaN","b":[-Infinity, 1]}'];
  expect(valuesOf(await read(Buffer.from(texts.join("\n"))))).toEqual(texts.map(() => reason("line")));
  expect(valuesOf(await read(Buffer.from(`[${texts}]`)))).toEqual(texts.map(() => reason("document")));
  expect(valuesOf(await read(Buffer.from('{"a":"NaN",b}\n')))).toEqual(["The line is not JSON"]);
});

test("an array that is cut off, and one with a broken element", async () => {
  expect(valuesOf(await read(Buffer.from('[{"a":1},{"b":'), 4))).toEqual([{ a: 1 }, "The JSON is cut off"]);
  expect(valuesOf(await read(Buffer.from('[{"a":1},{b},{"c":1}]'), 4))).toEqual([
    { a: 1 },
    "The document is not JSON",
    { c: 1 },
  ]);
});

test.each([
  ['[{"a":1} {"b":1},{"c":1}]', [{ a: 1 }, "The document is not JSON", { c: 1 }]],
  ['[{"a":1},,{"b":1}]', [{ a: 1 }, "The document is not JSON"]],
  ['[{"a":1},]', [{ a: 1 }, "The document is not JSON"]],
  ['[,{"a":1}]', ["The document is not JSON"]],
  ['[{"a":1}}', [{ a: 1 }, "The document is not JSON"]],
  ['[{"a":1}]]', [{ a: 1 }, "The document is not JSON"]],
  ['{\n"a":1}}', [{ a: 1 }, "The document is not JSON"]],
  ['{"data":[{"a":1}],\n"next": oops, "more":[1}}', [{ a: 1 }, "What follows `data` is not JSON"]],
  ['{\n"data":[{"a":1}]]', [{ a: 1 }, "What follows `data` is not JSON"]],
  ['{"before": oops,\n"data":[{"a":1}]}', ["The document is not JSON"]],
  ['{\n"data":[{"a":1}], "next": null}\n[{"b":1}, 2, "c" , []] []', [{ a: 1 }, { b: 1 }, 2, "c", []]],
])("what is not JSON around documents is a fault: %s", async (text, values) => {
  for (const chunkBytes of [1, 4, 100])
    expect(valuesOf(await read(Buffer.from(text), chunkBytes))).toEqual(values);
});

test("several values in a line are told, and so is what follows a long object's array", async () => {
  const several = "The line is not JSON: it has several values. Write one a line, or put brackets around all";
  expect(valuesOf(await read(Buffer.from('{"a":1}\n{"b":1},{"c":1}')))).toEqual([{ a: 1 }, several]);
  const after = `"tasks":["${"x".repeat(17_000_000)}"], oops`;
  expect(valuesOf(await read(Buffer.from(`{\n"data":[{"a":1}],${after}}`), 1_000_000))).toEqual([
    { a: 1 },
    "What follows `data` is not JSON",
  ]);
});

test("JSON that is too deep or has too many values is a fault", async () => {
  const deep = `${"[".repeat(201)}${"]".repeat(201)}`;
  expect(valuesOf(await read(Buffer.from(`[${deep},1]`)))).toEqual([
    "It is nested deeper than 200 levels",
    1,
  ]);
  for (const levels of [201, 20_000]) {
    const line = `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(valuesOf(await read(Buffer.from(`${line}\n{"b":1}`)))).toEqual([
      "It is nested deeper than 200 levels",
      { b: 1 },
    ]);
  }
  const many = `[[${"0,".repeat(2_000_001)}0],1]`;
  expect(valuesOf(await read(Buffer.from(many), 65_536))).toEqual(["It has more than 2000000 values", 1]);
});

test("a compressed bomb is refused, and so is what is cut off", async () => {
  const bomb = Buffer.alloc(90_000_000, `${" ".repeat(999)}\n`);
  for (const packed of [gzipSync(bomb), zstdCompressSync(bomb)])
    expect(read(packed, 1000)).rejects.toThrow("200 times as long");
  const whole = Buffer.from(JSON.stringify(Array.from({ length: 999 }, Math.random)));
  expect(read(gzipSync(whole).subarray(0, 500))).rejects.toThrow("not valid gzip");
  expect(read(zstdCompressSync(whole).subarray(0, 500))).rejects.toThrow("not valid zstd");
});

test("a zip gives the JSON files in it by name, stored, deflated or by zstd, and leaves no file behind", async () => {
  const zip = await Bun.file(new URL("zip.fixture.zip", import.meta.url)).bytes();
  const found = await read(zip, 100);
  expect(found.map((one) => ("document" in one ? [one.document.entry, one.document.value] : one))).toEqual([
    ["a.json", { a: 1 }],
    ["b/one.jsonl", { b: 1 }],
    ["b/one.jsonl", { b: 2 }],
    ["z.json", { z: 1 }],
  ]);
  expect(read(zip.subarray(0, 100))).rejects.toThrow("not valid zip");
  const broken = Buffer.from(Buffer.from(zip).toString("latin1").replace('{"a":1}', '{"a":?}'), "latin1");
  expect(await read(broken)).toContainEqual({
    fault: { place: ["line", 1], path: [], reason: "The line is not JSON" },
  });
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("presage-import-"))).toEqual([]);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = "/nowhere";
  const refused = await read(zip).catch((error) => error);
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  expect([refused.code, refused.message]).toEqual([
    "disk_full",
    "This upload needs a temporary file, and /nowhere cannot be written (ENOENT).",
  ]);
});

test("what comes out of packed files in a zip is bounded together", async () => {
  const zip = new ZipStream();
  const bytes = Array.fromAsync(zip);
  const packed = gzipSync(JSON.stringify({ a: "x".repeat(60_000) }));
  for (const name of ["a.json.gz", "b.json.gz"])
    await promisify(zip.entry.bind(zip))(packed, { name, store: true });
  zip.finish();
  const whole = Buffer.concat(await bytes);
  expect(await read(whole)).toHaveLength(2);
  await expect(read(whole, whole.length, 100_000)).rejects.toThrow("100000 bytes");
});
