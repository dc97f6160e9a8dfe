import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  createRevision,
  findLabelledRevision,
  getRevision,
  listRevisions,
  type NewRevision,
  removeLabels,
  setLabels,
} from "../../src/evaluators/taxonomies/taxonomies.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";

const builtInNames = ["system:agent-errors", "system:world-model-errors"];

onAnyDatabase((testDatabase) => {
  let store: Awaited<ReturnType<typeof openStore>>;
  let accountId: string;
  let own: string[];

  const newRevision = (taxonomy: NewRevision["taxonomy"], labels: string[] = []) => ({
    taxonomy,
    description: undefined,
    body: ["an error"],
    metadata: undefined,
    labels,
  });
  const list = async (filter: object, account = accountId) => {
    const pieces = await listRevisions({ store }, anyRequester(account), { limit: 50, offset: 0, ...filter });
    return (await Array.fromAsync(pieces.read())).flat();
  };
  const names = async (filter: object) =>
    (await list(filter)).map((revision) => revision.error_taxonomy_name);

  beforeAll(async () => {
    store = await openStore(await testDatabase.create());
    accountId = store.owner.account_id;
    for (const name of ["one", "two", "three"]) {
      const labels = name === "two" ? ["production"] : [];
      await createRevision(
        { store },
        anyRequester(accountId),
        newRevision({ name, isNewOnly: true }, labels),
        undefined,
      );
    }
    own = ["three", "two", "one"];
  });
  afterAll(() => store[Symbol.asyncDispose]());

  describe("Built-in taxonomies", () => {
    test("are listed after the account's own, on every page", async () => {
      const all = [...own, ...builtInNames];
      expect(await names({})).toEqual(all);
      for (const limit of [1, 2, 3, 4, 5, 6]) {
        for (const offset of [0, 1, 2, 3, 4, 5, 6, Number.MAX_SAFE_INTEGER]) {
          expect(await names({ limit, offset })).toEqual(all.slice(offset, offset + limit));
        }
      }
    });

    test("are filtered like any other", async () => {
      const [agents] = await list({ taxonomyName: "system:agent-errors" });
      expect(await names({ label: "production" })).toEqual(["two", ...builtInNames]);
      expect(await names({ label: "production", offset: 1 })).toEqual(builtInNames);
      expect(await names({ label: "staging" })).toEqual([]);
      expect(await names({ taxonomyId: agents?.error_taxonomy_id })).toEqual(["system:agent-errors"]);
      expect(await names({ isLatestOnly: true })).toEqual([...own, ...builtInNames]);
      expect(await names({ taxonomyName: "one" })).toEqual(["one"]);
    });

    test("are the same for every account and have its account id", async () => {
      const stranger = Bun.randomUUIDv7();
      const strangers = await list({}, stranger);
      const owners = await list({ offset: 3 });
      expect(strangers).toEqual(owners.map((revision) => ({ ...revision, account_id: stranger })));
      for (const revision of owners) {
        expect(revision).toMatchObject({ revision: 1, labels: ["production"], account_id: accountId });
        expect(await getRevision(store.database, accountId, revision.id)).toEqual(revision);
      }
    });

    test("cannot be changed", async () => {
      const [revision] = await list({ taxonomyName: "system:agent-errors" });
      const { id = "", error_taxonomy_id = "" } = revision ?? {};
      const requester = anyRequester(accountId);
      const create = (taxonomy: NewRevision["taxonomy"]) => () =>
        createRevision({ store }, requester, newRevision(taxonomy), undefined);
      const conflict = expect.objectContaining({ code: "conflict" });
      for (const change of [
        () => setLabels({ store }, requester, id, ["mine"]),
        () => removeLabels({ store }, requester, id, ["production"]),
        create({ id: error_taxonomy_id }),
        create({ name: "system:agent-errors", isNewOnly: false }),
        create({ name: "system:mine", isNewOnly: false }),
      ]) {
        expect(await change().catch((error: unknown) => error)).toEqual(conflict);
      }
      expect(await list({ taxonomyName: "system:agent-errors" })).toEqual(revision ? [revision] : []);
    });
  });

  test("A labelled revision is found by its taxonomy's name, among the built-in ones", async () => {
    const find = (name: string, label: string) =>
      findLabelledRevision(store.database, accountId, name, label);
    expect(await find("two", "production")).toMatchObject({ error_taxonomy_name: "two" });
    expect(await find("one", "production")).toBeUndefined();
    expect(await find("system:world-model-errors", "production")).toMatchObject({ revision: 1 });
    expect(await find("system:world-model-errors", "staging")).toBeUndefined();
    expect(await find("none", "production")).toBeUndefined();
  });
});
