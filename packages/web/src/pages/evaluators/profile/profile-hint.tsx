import type { EvaluatorProfile } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { Time } from "../../../ui/time.tsx";

/** Where a profile belongs, and what it is for. */
export function ProfileHint({ profile }: { profile: EvaluatorProfile }) {
  const { evaluator_family, description, is_managed, archived_at } = profile;
  return (
    <>
      A profile of{" "}
      <Link
        to="/evaluators"
        search={{ q: evaluator_family }}
        className="font-medium text-accent-ink hover:underline"
      >
        {evaluator_family}
      </Link>
      .{description !== null && description !== "" && ` ${description}`}
      {is_managed && " It comes with Presage and cannot be changed."}
      {archived_at !== null && (
        <>
          {" "}
          Archived <Time at={archived_at} />: it cannot be used or revised.
        </>
      )}
    </>
  );
}
