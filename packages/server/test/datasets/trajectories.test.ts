import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

/** The number of steps of each trajectory. */
const lengths = { "room-10": 2, "room-2": 5, Room_3: 2, "100%": 1, ÉTAGE: 3, "a/b.c": 2 };

const samples = Object.entries(lengths).flatMap(([trajectory_id, steps]) =>
  Array.from({ length: steps }, (_, index) => ({
    trajectory_id,
    // Steps may be missing, and need not start at 0.
    step: index * 2 + 1,
    interaction: { state: `${index}`, action: "go on" },
    next_state: `${index + 1}`,
    ...(index === 0 ? { tags: { first: trajectory_id } } : { tags: { later: "yes" } }),
  })),
);
const byId = ["100%", "Room_3", "a/b.c", "room-10", "room-2", "ÉTAGE"];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { create, uploadNew, read } = datasetClient(presage);
  let id: Promise<string> | undefined;

  async function filled(): Promise<string> {
    const created = await create();
    await uploadNew(created, samples);
    return created;
  }

  /** The ids of all pages. */
  async function listed(query: string): Promise<string[]> {
    id ??= filled();
    const all: string[] = [];
    for (let after = ""; ; ) {
      const { status, body } = await read(`${await id}/trajectories?${query}${after}`);
      expect(status).toBe(200);
      all.push(...body.data.map(({ trajectory_id }: { trajectory_id: string }) => trajectory_id));
      if (body.next === null) return all;
      after = `&after=${encodeURIComponent(body.next)}`;
    }
  }

  test("a revision's trajectories are listed with their steps and first tags, page by page", async () => {
    id ??= filled();
    const { body } = await read(`${await id}/trajectories?limit=5`);
    expect(body.data.at(-1)).toEqual({
      trajectory_id: "room-2",
      steps: 5,
      first_step: 1,
      last_step: 9,
      first_action: "go on",
      tags: { first: "room-2" },
    });
    expect(await listed("limit=1")).toEqual(byId);
    expect(await listed("limit=100")).toEqual(byId);
  });

  test("trajectories are sorted by their number of steps, equal ones by id", async () => {
    const longest = ["room-2", "ÉTAGE", "Room_3", "a/b.c", "room-10", "100%"];
    expect(await listed("order=-steps&limit=2")).toEqual(longest);
    const shortest = ["100%", "Room_3", "a/b.c", "room-10", "ÉTAGE", "room-2"];
    expect(await listed("order=steps&limit=1")).toEqual(shortest);
  });

  test("trajectories are found by a text of their id, whatever it is", async () => {
    expect(await listed("contains=ROOM")).toEqual(["Room_3", "room-10", "room-2"]);
    expect(await listed("contains=room&order=-steps&limit=1")).toEqual(["room-2", "Room_3", "room-10"]);
    for (const [text, found] of [
      ["%25", ["100%"]],
      ["_", ["Room_3"]],
      ["!", []],
      ["'--", []],
      ["%C3%89t", ["ÉTAGE"]],
      ["%C3%A9t", []],
      ["", byId],
    ] as const)
      expect([text, await listed(`contains=${text}`)]).toEqual([text, [...found]]);
  });

  test("a list needs a revision, a cursor of its own and a known order", async () => {
    const empty = await create();
    expect((await read(`${empty}/trajectories`)).status).toBe(404);
    id ??= filled();
    for (const query of [
      "after=x",
      "after=1.",
      "order=bytes",
      "limit=0",
      "revision=0",
      "contains=%00",
      "revison=1",
    ])
      expect([query, (await read(`${await id}/trajectories?${query}`)).status]).toEqual([query, 422]);
    const { body } = await read(`${await id}/trajectories?after=x`);
    expect(body).toMatchObject({
      detail: [{ msg: "Value error, Input should be the `next` of an earlier response" }],
    });
    for (const path of ["samples", "export", "trajectories/t"])
      expect([path, (await read(`${await id}/${path}?revison=1`)).status]).toEqual([path, 422]);
    expect((await read(`${await id}/trajectories?after=999999999999999.zzz`)).status).toBe(200);
    expect((await read(`${await id}/trajectories?revision=2`)).status).toBe(404);
  });

  test("a trajectory is read a page at a time, also from its middle", async () => {
    id ??= filled();
    const steps = ({ body }: { body: { samples: { step: number }[] } }) =>
      body.samples.map(({ step }) => step);
    const path = `${await id}/trajectories/room-2`;
    const first = await read(`${path}?limit=2`);
    expect([steps(first), first.body.next]).toEqual([[1, 3], "3"]);
    const rest = await read(`${path}?limit=3&after=3`);
    expect([steps(rest), rest.body.next]).toEqual([[5, 7, 9], null]);
    expect(steps(await read(`${path}?after=4`))).toEqual([5, 7, 9]);
    expect(steps(await read(`${path}?limit=1&after=9`))).toEqual([]);
    expect(steps(await read(`${path}?limit=1&after=-1`))).toEqual([1]);
    expect((await read(`${await id}/trajectories/room-1?limit=1`)).status).toBe(404);
  });
});
