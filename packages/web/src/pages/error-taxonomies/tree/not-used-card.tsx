import type { ErrorTaxonomyRevision, EvaluatorProfile } from "@presage/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { usePresage } from "../../../data/client.ts";
import { latestProfilesQuery } from "../../../data/evaluators.ts";
import { taxonomyFindingsQuery } from "../../../data/taxonomies.ts";
import { counted } from "../../../format/numbers.ts";
import { plainName } from "../../../format/words.ts";
import { Card } from "../../../ui/card.tsx";
import { Awaited } from "../../../ui/notice.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";

/** The greatest number of other revisions that are checked for findings. */
const maxAsked = 5;
const defaultLabel = "production";
const linkClass = "text-accent-ink underline underline-offset-2";

interface NotUsedCardProps {
  revision: ErrorTaxonomyRevision;
  /** Newest first. */
  others: readonly ErrorTaxonomyRevision[];
}

/** Shown in place of findings if there are none: what is missing, and which other revisions have some. */
export function NotUsedCard({ revision, others }: NotUsedCardProps) {
  const presage = usePresage();
  const profiles = useQuery(latestProfilesQuery(presage));
  const used = useQueries({
    queries: others.slice(0, maxAsked).map(({ id }) => taxonomyFindingsQuery(presage, id)),
    combine: (results) =>
      results.flatMap(({ data }, index) => {
        const other = others[index];
        return data === undefined || other === undefined || data.evaluated === 0
          ? []
          : [{ other, evaluated: data.evaluated }];
      }),
  });
  const naming = profiles.data?.filter((profile) => labelOf(profile, revision) !== undefined);
  const using = naming?.filter((profile) => revision.labels.includes(labelOf(profile, revision) ?? ""));
  return (
    <Card title="Not used yet" hint="No evaluation has used this revision. To get there:">
      {profiles.data === undefined ? (
        <Awaited error={profiles.error} onRetry={profiles.refetch} count={3} />
      ) : (
        <ol className="divide-y divide-line text-sm">
          <Step title="A profile names the taxonomy" isDone={naming?.length !== 0}>
            {naming?.length === 0 ? (
              <p>
                Create one of the family{" "}
                <Link to="/evaluators" search={{ q: "error-taxonomy" }} className={linkClass}>
                  error-taxonomy
                </Link>
                , with this taxonomy’s name in its config.
              </p>
            ) : (
              <ul>
                {naming?.map((profile) => (
                  <li key={profile.public_id}>
                    <ProfileLink profile={profile} />, label {labelOf(profile, revision)}
                  </li>
                ))}
              </ul>
            )}
          </Step>
          <Step
            title="This revision has the profile’s label"
            isDone={using !== undefined && using.length > 0}
          >
            <p>
              {using?.length === 0
                ? `Profiles use the revision with their label, mostly “${defaultLabel}”. “Set label” moves it here.`
                : `It has ${revision.labels.map((label) => `“${label}”`).join(" and ")}.`}
            </p>
          </Step>
          <Step title="Outputs are evaluated with it" isDone={false}>
            <p>
              {using?.[0] !== undefined && (
                <>
                  Try it on a text in <ProfileLink profile={using[0]} />, or add{" "}
                </>
              )}
              {using?.[0] === undefined && "Add "}
              the profile to{" "}
              <Link to="/runs/new" className={linkClass}>
                a run
              </Link>
              . It needs a model that judges.
            </p>
          </Step>
        </ol>
      )}
      {used.length > 0 && (
        <ul className="border-t border-line px-4 py-3 text-sm">
          {used.map(({ other, evaluated }) => (
            <li key={other.id}>
              <Link
                from="/error-taxonomies/$taxonomyId"
                search={{ revision: other.revision }}
                className={linkClass}
              >
                Revision {other.revision}
                {other.labels.length > 0 && ` · ${other.labels.join(", ")}`}
              </Link>{" "}
              has findings of {counted(evaluated, "evaluation")}.
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The label by which a profile uses this taxonomy; undefined if it uses another. */
function labelOf({ config }: EvaluatorProfile, revision: ErrorTaxonomyRevision): string | undefined {
  if (config.error_taxonomy_name !== revision.error_taxonomy_name) return undefined;
  return typeof config.label === "string" ? config.label : defaultLabel;
}

function ProfileLink({ profile: { name, public_id: publicId } }: { profile: EvaluatorProfile }) {
  return (
    <Link to="/evaluators/profiles/$publicId" params={{ publicId }} className={linkClass}>
      <InlineText text={plainName(name)} />
    </Link>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  const Icon = isDone ? CircleCheck : CircleDashed;
  return (
    <li className="flex gap-3 px-4 py-3">
      <Icon className={`mt-0.5 size-4 shrink-0 ${isDone ? "text-pass" : "text-ink-3"}`} aria-hidden />
      <div className="min-w-0 text-ink-2">
        <h3 className="font-medium text-ink">
          {title}
          {isDone && <span className="sr-only">, done</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}
