import { firstWriterLock, numbersPerStretch, resultNumbers } from "../columns.ts";
import type { Words } from "./baseline-tables.ts";

export const resultTables = ({ resultId, byBytes, byKey }: Words) => `
create table "evaluation_results" (
  id ${resultId} primary key, account_id text not null, created_at bigint not null, app text not null,
  evaluator_id text not null, evaluator_family text, profile_name text, profile_public_id text,
  profile_revision integer, status text not null, explain_strategy text not null, dataset_id text, run_id text,
  is_external integer not null, pass integer, score double precision, counted_pass integer,
  counted_score double precision, score_mille integer, request_key text, cluster_id bigint, project_id text,
  experiment_id text, sample_key ${byBytes}
);
create index evaluation_results_by_time on evaluation_results (created_at, id);

create table "evaluation_payloads" (
  result_id ${resultId} primary key, system_prompt text, retrieved_context text, input text, output text,
  gold_answer text, error_message text, explanation text, evaluation_micros bigint, explanation_micros bigint,
  additional_info text, dataset_sample_id text, run_project_id text, evaluated_model text, tags text
);

create table "evaluation_tags" (
  account_id text not null, name text not null, value text not null, result_id bigint not null,
  constraint evaluation_tags_of_a_value primary key (account_id, name, value, result_id)
)${byKey};

create table "evaluation_corrections" (
  id text primary key, result_id bigint not null references evaluation_results (id), account_id text not null,
  profile_public_id text, user_id text not null, pass integer not null, score double precision, comment text,
  created_at bigint not null
);
create index evaluation_corrections_of_a_result on evaluation_corrections (result_id, created_at, id);
create index evaluation_corrections_of_a_profile
  on evaluation_corrections (account_id, profile_public_id, created_at, id);

create table "result_deletions" (
  id text primary key, account_id text not null, filter text not null, matched bigint not null,
  after_id bigint not null, up_to_id bigint not null, deleted bigint not null, created_by text not null,
  created_at bigint not null, finished_at bigint
);
create index result_deletions_of_an_account on result_deletions (account_id, created_at, id);
create index result_deletions_to_work_on on result_deletions (created_at) where finished_at is null;
`;

/** The filters of a search that are an equality; each has the index that serves it in the order of ids. */
const searched = [
  "app",
  "evaluator_id",
  "evaluator_family",
  "profile_name",
  "profile_public_id",
  "explain_strategy",
];

/**
 * Searches look at verdicts unless they ask for a status, so that failures in between cost them nothing. If two indexes serve a query
 * equally well, SQLite takes the one that was created last.
 */
export function resultIndexes(): string {
  const create = (name: string, columns: string, condition: string) =>
    `create index evaluation_results_${name} on evaluation_results (account_id, ${columns}) where ${condition};\n`;
  const verdicts = "status = 'success'";
  const failures = "status <> 'success'";
  const by = (column: string) => create(`by_${column}`, `${column}, id`, verdicts);
  const whereSet = (column: string) =>
    create(`by_${column}`, `${column}, id`, `${verdicts} and ${column} is not null`);
  const failedBy = (column: string) =>
    create(`without_verdict_by_${column}`, `${column}, id`, `${failures} and ${column} is not null`);
  return [
    create("by_id", "id", verdicts),
    ...searched.map(by),
    ...["dataset_id", "run_id"].map(whereSet),
    ...["counted_pass", "score_mille"].map(by),
    // A search by score asks for whole steps of 40 thousandths where it can, and for single thousandths at its two ends.
    create("by_score_step", "(score_mille / 40), id", verdicts),
    `create unique index evaluation_results_by_request_key on evaluation_results (account_id, request_key)
      where request_key is not null;\n`,
    create("without_verdict", "status, id", failures),
    create("in_clusters", "evaluator_id, id", `${verdicts} and cluster_id is not null`),
    ...["project_id", "experiment_id", "sample_key"].map(whereSet),
    create(
      "without_verdict_by_sample_key",
      "status, sample_key, id",
      `${failures} and sample_key is not null`,
    ),
    ...["run_id", "experiment_id"].map(failedBy),
  ].join("");
}

export const countTables = ({ byKey }: Words) => `
create table "evaluation_times" (
  stretch bigint not null, earliest bigint not null, latest bigint not null,
  constraint evaluation_times_of_a_stretch primary key (stretch)
)${byKey};

-- Deltas have neither keys nor indexes, so that inserts never wait.
create table "evaluation_time_deltas" (stretch bigint not null, earliest bigint not null, latest bigint not null);

create table "evaluation_series" (
  id text primary key, account_id text not null, app text not null, evaluator_id text not null,
  evaluator_family text not null, profile_name text not null, profile_public_id text not null,
  profile_revision integer not null, spans_runs integer not null, run_id text not null
);
create index evaluation_series_of_an_app on evaluation_series (account_id, spans_runs, app);
create index evaluation_series_of_an_evaluator
  on evaluation_series (account_id, evaluator_id, profile_public_id, profile_revision);

create table "evaluation_counts" (
  series_id text not null references evaluation_series (id), day integer not null, verdict text not null,
  score_mille integer not null, count bigint not null, score_sum double precision not null,
  score_sum_of_squares double precision not null,
  constraint evaluation_counts_of_a_day primary key (series_id, day, verdict, score_mille)
)${byKey};

create table "evaluation_count_deltas" (
  series_id text not null, day integer not null, verdict text not null, score_mille integer not null,
  count bigint not null, score_sum double precision not null, score_sum_of_squares double precision not null
);

-- Over all series, kept by triggers, in the order in which summaries add them up: docs/decisions/0025-summaries-and-statements.md.
create table "evaluation_total_counts" (
  account_id text not null, day integer not null, verdict text not null, score_mille integer not null,
  count bigint not null, score_sum double precision not null, score_sum_of_squares double precision not null,
  constraint evaluation_total_counts_of_an_account primary key (account_id, day, score_mille, verdict)
)${byKey};

create table "error_finding_counts" (
  account_id text not null, revision_id text not null, day integer not null, path_id text not null,
  path text not null, count bigint not null,
  constraint error_finding_counts_of_a_day primary key (account_id, revision_id, day, path_id)
);

create table "error_finding_count_deltas" (
  account_id text not null, revision_id text not null, day integer not null, path_id text not null,
  path text not null, count bigint not null
);

`;

/** Filled from stored results afterwards; nothing is counted yet. */
export const tagTables = ({ number, byKey }: Words) => `
create table "evaluation_tag_progress" (up_to bigint not null);
insert into evaluation_tag_progress (up_to) values (0);

create table "evaluation_tag_names" (
  account_id text not null, name text not null, counted_up_to bigint,
  constraint evaluation_tag_names_of_an_account primary key (account_id, name)
)${byKey};
create index evaluation_tag_names_counted on evaluation_tag_names (account_id) where counted_up_to is null;

create table "evaluation_tag_values" (
  id ${number}, account_id text not null, name text not null, value text not null,
  constraint evaluation_tag_values_of_a_name unique (account_id, name, value)
);

create table "evaluation_tag_series" (
  id ${number}, tag_id bigint not null, app text not null, evaluator_id text not null,
  evaluator_family text not null, profile_name text not null, profile_public_id text not null,
  profile_revision integer not null,
  constraint evaluation_tag_series_of_a_tag
    unique (tag_id, app, evaluator_id, evaluator_family, profile_name, profile_public_id, profile_revision)
);

create table "evaluation_tag_counts" (
  series_id bigint not null, day integer not null, verdict text not null, score_mille integer not null,
  count bigint not null, score_sum double precision not null, score_sum_of_squares double precision not null,
  constraint evaluation_tag_counts_of_a_day primary key (series_id, day, verdict, score_mille)
)${byKey};
`;

/**
 * How results get their numbers. On PostgreSQL a sequence gives them, so that no writer waits for another
 * (docs/decisions/0010-result-numbers.md). The first versions took them by updating a clock: a view in its place gives them consecutive
 * numbers of the sequence, as they expect, and does everything else that a writer of today does.
 */
export function numberResults(isPostgres: boolean): string[] {
  if (!isPostgres)
    return [
      "create table evaluation_clock (last_id bigint not null, last_created_at bigint not null)",
      "insert into evaluation_clock (last_id, last_created_at) values (0, 0)",
    ];
  return [
    `create sequence ${resultNumbers} minvalue 0`,
    `select setval('${resultNumbers}', 0)`,
    `create view evaluation_clock as
      select pg_sequence_last_value('${resultNumbers}'::regclass) as last_id, 0::bigint as last_created_at`,
    `create function advance_evaluation_clock() returns trigger language plpgsql as $$
    declare
      wanted bigint := new.last_id - old.last_id;
      first_id bigint;
      last_id bigint;
      next_id bigint;
    begin
      if wanted = 0 then
        -- A correction, which counts on being the only one.
        perform pg_advisory_xact_lock(${firstWriterLock} - 1);
        return new;
      end if;
      perform pg_advisory_xact_lock_shared(${firstWriterLock} + sequence.last_value)
        from "${resultNumbers}" as sequence;
      first_id := nextval('${resultNumbers}');
      last_id := first_id;
      while last_id - first_id + 1 < wanted loop
        next_id := nextval('${resultNumbers}');
        if next_id <> last_id + 1 then first_id := next_id; end if;
        last_id := next_id;
      end loop;
      insert into evaluation_time_deltas (stretch, earliest, latest)
        select stretch, new.last_created_at, new.last_created_at
        from generate_series(first_id / ${numbersPerStretch}, last_id / ${numbersPerStretch}) as stretch;
      new.last_id := last_id;
      return new;
    end $$`,
    `create trigger evaluation_clock_advances instead of update on evaluation_clock
      for each row execute function advance_evaluation_clock()`,
  ];
}

const key = "account_id, day, score_mille, verdict";
const figures = ["count", "score_sum", "score_sum_of_squares"];
const insertInto = `insert into evaluation_total_counts (${key}, ${figures.join(", ")})`;
const onConflict = `on conflict (${key}) do update set ${figures
  .map((name) => `${name} = evaluation_total_counts.${name} + excluded.${name}`)
  .join(", ")}`;

/** The triggers that keep an account's counts over all series. */
export function keepTotals(isPostgres: boolean): string[] {
  return isPostgres ? statementTriggers() : rowTriggers();
}

/** One statement folds up to thousands of rows. */
function statementTriggers(): string[] {
  const before = `select series_id, day, score_mille, verdict, ${figures.map((name) => `-${name} as ${name}`).join(", ")}
    from old_rows`;
  const after = `select series_id, day, score_mille, verdict, ${figures.join(", ")} from new_rows`;
  const triggers = [
    { event: "insert", tables: "new table as new_rows", rows: after },
    {
      event: "update",
      tables: "old table as old_rows new table as new_rows",
      rows: `${before} union all ${after}`,
    },
    { event: "delete", tables: "old table as old_rows", rows: `${before} where count <> 0` },
  ];
  return triggers.flatMap(({ event, tables, rows }) => {
    const name = `evaluation_total_counts_on_${event}`;
    // Plans are kept for the session: with a join, a plan made for many rows would read every series even for a single row.
    const body = `${insertInto} select ${key}, ${figures.map((figure) => `sum(${figure})`).join(", ")}
      from (${rows}) as changed cross join lateral (
        select account_id from evaluation_series where id = series_id and spans_runs = 1 offset 0) as series
      group by ${key} order by ${key} ${onConflict};`;
    return [
      `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
      `create trigger ${name} after ${event} on evaluation_counts referencing ${tables}
        for each statement execute function ${name}()`,
    ];
  });
}

function rowTriggers(): string[] {
  const triggers = [
    { event: "insert", row: "new", changeOf: (name: string) => `new.${name}` },
    // No statement changes the key of a count.
    { event: "update", row: "new", changeOf: (name: string) => `new.${name} - old.${name}` },
    // Nearly all deleted counts are empty, and the total of their day may already be deleted.
    { event: "delete", row: "old", changeOf: (name: string) => `-old.${name}`, when: "when old.count <> 0" },
  ];
  return triggers.map(
    ({
      event,
      row,
      changeOf,
      when = "",
    }) => `create trigger evaluation_total_counts_on_${event} after ${event} on evaluation_counts ${when} begin
        ${insertInto} select account_id, ${row}.day, ${row}.score_mille, ${row}.verdict, ${figures.map(changeOf).join(", ")}
          from evaluation_series where id = ${row}.series_id and spans_runs = 1 ${onConflict};
      end`,
  );
}
