// Rows as a few weeks of a team's use would leave them, as SQL that works on both databases, so that millions are made in
// a minute. Every value is derived from the row's number. A draw is a number of thousandths.

/** The number of results with the values named "few" at every size. With less than a page, pages would differ in length. */
export const fewResults = 100;

const account = "(select id from accounts limit 1)";
const spanMicros = 30 * 86_400_000_000;
export const endMicros = Date.UTC(2026, 10, 20) * 1000;
export const startMicros = endMicros - spanMicros;

/** 0 to 999. Squares modulo a prime vary without a period that indexes or other draws could follow. */
const draw = (salt: number): string => {
  const step = `((i * ${1_000_003 + salt * 7_368_787} + ${salt * 15_485_863}) % 2147483647)`;
  return `(${step} * ${step} % 2147483647 % 1000)`;
};

/** One in each stretch of the results, at varying positions, so that they are spread over runs and days. */
const isOneOfFew = (size: number): string => {
  const stretch = size / fewResults;
  return `i % ${stretch} = (i / ${stretch} * 7919) % ${stretch}`;
};

const drawn = (numbers: string): string => `
  select i, case when (i / 500) % 5 < 2 then 1 else 0 end as in_run, ${draw(1)} as app_draw, ${draw(2)} as evaluator_draw,
    ${draw(3)} as profile_draw, ${draw(4)} as status_draw, ${draw(5)} as explain_draw, ${draw(6)} as dataset_draw,
    ${draw(7)} as kind_draw, ${draw(8)} as score_draw, ${draw(9)} as correction_draw, ${draw(10)} as tag_draw
  from ${numbers}`;

/** Two in five results belong to a run: 500 in a row that share an app and a profile. The rest is monitored traffic. */
const valued = (size: number): string => `
  select i, status_draw, kind_draw, score_draw, correction_draw, tag_draw,
    case when in_run = 1 then 'app-main' when app_draw < 20 then 'app-rare' when app_draw < 700 then 'app-main'
      else 'app-' || (app_draw % 4) end as app,
    case when evaluator_draw < 15 then 'judge-large' when evaluator_draw < 450 then 'exact-match'
      when evaluator_draw < 550 then 'json-match' when evaluator_draw < 700 then 'judge'
      when evaluator_draw < 820 then 'rouge-l' when evaluator_draw < 900 then 'edit-distance'
      when evaluator_draw < 950 then 'token-f1' else 'regex' end as family,
    case when in_run = 1 then i / 500 % 2 when profile_draw < 40 then 2 when profile_draw < 300 then 1 else 0 end as profile,
    case when status_draw < 10 then 'failed' when status_draw < 12 then 'validation_error' else 'success' end as status,
    case when explain_draw < 15 then 'on-fail' when explain_draw < 115 then 'never' else 'always' end as explain_strategy,
    case when ${isOneOfFew(size)} then 'dataset-few' when dataset_draw < 15 then 'dataset-rare'
      when dataset_draw < 500 then 'dataset-main' when dataset_draw < 700 then 'dataset-' || (dataset_draw % 5) end as dataset_id,
    case when in_run = 1 then 'run-' || (i / 500) when kind_draw < 300 then 'run-nightly' end as run_id
  from drawn`;

/** Half of the evaluators are binary, judges score in quarters, and similarity measures give any score, often 0 or 1. */
const scored = `
  select *, case when status <> 'success' then null
      when family in ('rouge-l', 'edit-distance', 'token-f1') then
        case when kind_draw < 150 then 0 when kind_draw < 350 then 1000 else score_draw end
      when family in ('judge', 'judge-large') then kind_draw % 5 * 250
      when kind_draw < 620 then 1000 else 0 end as machine_mille
  from valued`;

const judged = `
  select *, case when machine_mille >= 500 then 1 when machine_mille < 500 then 0 end as pass,
    case when correction_draw < 5 and status = 'success' then 1 else 0 end as is_corrected
  from scored`;

const profileId = "'profile-' || family || '-' || profile";
const environmentTag =
  "case when tag_draw < 30 then 'canary' when tag_draw < 800 then 'production' else 'staging' end";
const text = "The switch is now connected to the anode of the light bulb; the bulb stays dark. ";

/** Makes the temporary table `judged`, from which the rows of the results numbered by `numbers`, a table with the column i, follow. */
export const judge = (numbers: string, size: number): string =>
  // Databases would inline subqueries, and compute a draw again wherever it is named.
  `create temporary table judged as
    with drawn as materialized (${drawn(numbers)}), valued as materialized (${valued(size)}),
      scored as materialized (${scored})
    ${judged}`;

/** Inserts the results in `judged`, with their corrections. */
export const insertResults = (size: number): string[] => [
  `insert into evaluation_results (id, account_id, created_at, app, evaluator_id, evaluator_family, profile_name,
      profile_public_id, profile_revision, status, explain_strategy, dataset_id, run_id, is_external, pass, score,
      counted_pass, counted_score, score_mille)
    select i, ${account}, ${startMicros} + i * ${spanMicros / size}, app, family || '-2026-11-21', family,
      'profile-' || profile, ${profileId}, 1, status, explain_strategy, dataset_id, run_id, 0,
      pass, machine_mille / 1000.0,
      case when is_corrected = 1 then 1 - pass else pass end,
      case when is_corrected = 1 then 1.0 - pass else machine_mille / 1000.0 end,
      case when is_corrected = 1 then 1000 - pass * 1000 else machine_mille end
    from judged`,
  `insert into evaluation_corrections (id, result_id, account_id, profile_public_id, user_id, pass, score, created_at)
    select 'correction-' || i, i, ${account}, ${profileId}, (select id from users limit 1), 1 - pass,
      1.0 - pass, ${endMicros} from judged where is_corrected = 1`,
];

/** Inserts the texts and tags of the results in `judged`. */
export const insertTextsAndTags = [
  `insert into evaluation_payloads (result_id, input, output, gold_answer, error_message, explanation, evaluation_micros, tags)
    select i, 'Action ' || i || ': connect the switch. ${text}', '${text}', '${text}',
      case when status <> 'success' then 'timeout: No verdict within 10000 ms.' end,
      'The output differs at character ' || (score_draw % 80) || '.', 120 + score_draw,
      '{"environment":"' || ${environmentTag} || '","model":"model-' || (score_draw % 5) || '"}'
    from judged`,
  `insert into evaluation_tags (account_id, name, value, result_id)
    select ${account}, 'environment', ${environmentTag}, i from judged`,
  `insert into evaluation_tags (account_id, name, value, result_id)
    select ${account}, 'model', 'model-' || (score_draw % 5), i from judged`,
];
