import { expect, test } from "bun:test";
import { ruleFamilies } from "../registry.ts";

/** Results name these profiles, so a config never changes once it has been published; a new one gets its own name. */
const published: Record<string, string> = {
  "exact-match/system:default": '{"trim":true,"ignore_case":false,"strip_tags":false}',
  "exact-match/system:word2world-exact": '{"variant":"word2world"}',
  "exact-match/system:mdlm-exact": '{"variant":"mdlm-exact"}',
  "exact-match/system:mdlm-semantic": '{"variant":"mdlm-semantic"}',
  "contains/system:default":
    '{"substrings":["I cannot","I can\'t","I\'m sorry, but","I am unable to","I\'m unable to","As an AI"],"mode":"none","ignore_case":true}',
  "regex/system:default":
    '{"pattern":"[^\\\\s\\\\pZ]","ignore_case":false,"multiline":false,"dot_all":false,"match":"search","expect":"match"}',
  "json-schema/system:default": '{"schema":true,"strip_tags":true}',
  "json-match/system:default": '{"repair":false,"ignore_paths":[],"number_tolerance":0}',
  "json-match/system:json-or-text":
    '{"repair":false,"ignore_paths":[],"number_tolerance":0,"prose_gold":"text"}',
  "json-match/system:llm-sim": '{"variant":"llm-sim"}',
  "json-match/system:llm-sim-diff": '{"variant":"llm-sim-diff"}',
  "edit-distance/system:default": '{"threshold":0.9,"trim":true,"ignore_case":false,"strip_tags":false}',
  "token-f1/system:default": '{"threshold":0.5,"normalisation":"squad"}',
  "rouge-l/system:default": '{"threshold":0.5}',
  "rouge-l/system:pltrdy": '{"threshold":0.5,"variant":"pltrdy"}',
  "bleu/system:default": '{"threshold":0.5,"smoothing":"exp","tokenisation":"13a"}',
  "numeric/system:default": '{"absolute_tolerance":0,"relative_tolerance":1e-9,"compare":"all"}',
  "pii/system:default": '{"kinds":["email","phone","card","iban","ip"]}',
  "state-change/system:default": '{"threshold":1}',
};

test("built-in profiles have the configs that earlier results were made with", () => {
  const profiles = ruleFamilies.flatMap(({ name: family, builtInProfiles }) =>
    builtInProfiles.map(({ name, config }) => [`${family}/${name}`, JSON.stringify(config)]),
  );
  expect(Object.fromEntries(profiles)).toEqual(published);
});

test("every built-in profile has a config that its family accepts", () => {
  for (const { name: family, config: schema, builtInProfiles } of ruleFamilies) {
    for (const { name, config } of builtInProfiles) {
      expect(`${family}/${name}: ${schema.safeParse(config).success}`).toBe(`${family}/${name}: true`);
    }
  }
});
