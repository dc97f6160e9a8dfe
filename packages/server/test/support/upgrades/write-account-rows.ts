import { tree } from "../resources/error-taxonomies.ts";
import { awkward, hoursOf, idOf, largestNumber, liveKey, revokedKey, writtenAt } from "./awkward.ts";
import { digestOf, type RowWriter } from "./row-writer.ts";

const keySecret = "c2VjcmV0IG9mIGFuIGVhcmxpZXIgdmVyc2lvbg==";
const localIssuer = "urn:presage:local";

/** The owner's account with keys and sessions, taxonomies, profiles and usage. */
export async function writeAccountRows({ insert }: RowWriter): Promise<void> {
  await insert("settings", { name: "api_key_digest", value: keySecret });
  await insert("accounts", { id: idOf.account, name: "default", created_at: writtenAt });
  await insert("users", {
    id: idOf.user,
    account_id: idOf.account,
    oidc_issuer: localIssuer,
    oidc_subject: "owner",
    email: null,
    name: awkward,
    created_at: writtenAt,
  });
  const key = { user_id: idOf.user, created_at: writtenAt, expires_at: null, last_used_at: writtenAt + 1 };
  await insert("api_keys", {
    ...key,
    id: idOf.key,
    name: awkward,
    digest: digestOf(keySecret, liveKey),
    prefix: liveKey.slice(0, 8),
    last_four: liveKey.slice(-4),
    revoked_at: null,
    rate_limit_rpm: 100_000,
    max_in_flight: null,
    capture: "0.25",
  });
  await insert("api_keys", {
    ...key,
    id: idOf.revokedKey,
    name: "revoked",
    digest: digestOf(keySecret, revokedKey),
    prefix: revokedKey.slice(0, 8),
    last_four: revokedKey.slice(-4),
    revoked_at: writtenAt + 2,
  });
  await insert("sessions", {
    id: idOf.session,
    user_id: idOf.user,
    issuer: localIssuer,
    digest: "the digest of a session",
    user_agent: awkward,
    id_token: null,
    created_at: writtenAt,
    last_seen_at: writtenAt,
    expires_at: writtenAt + 86_400_000_000,
    ended_at: null,
  });
  await insert("sign_in_tokens", {
    digest: "the digest of a link",
    user_id: idOf.user,
    created_at: writtenAt,
    expires_at: writtenAt + 86_400_000_000,
    used_at: writtenAt + 1,
  });
  await insert("idempotent_requests", {
    id: "the digest of a request's key",
    request_digest: "the digest of the request",
    receipt: JSON.stringify({ id: idOf.key }),
    created_at: writtenAt,
  });
}

/** Rows about deletions, audit events, and the process that works in the background. */
export async function writeChangeRows({ insert }: RowWriter): Promise<void> {
  await insert("leases", { name: "deletion", holder: "a process that is gone", until: writtenAt });
  await insert("closed_accounts", { account_id: "an account that is gone", closed_at: writtenAt });
  await insert("result_deletions", {
    id: idOf.deletion,
    account_id: idOf.account,
    filter: JSON.stringify({ app: awkward }),
    matched: largestNumber,
    after_id: 4,
    up_to_id: 4,
    deleted: 3,
    created_by: idOf.user,
    created_at: writtenAt,
    finished_at: writtenAt + 1,
  });
  await insert("audit_events", {
    id: idOf.auditEvent,
    account_id: idOf.account,
    created_at: writtenAt,
    action: "api_key.create",
    object_id: idOf.key,
    actor_kind: "command_line",
    actor_user_id: null,
    actor_id: null,
    actor_name: awkward,
    request_id: null,
    detail: JSON.stringify({ name: awkward }),
  });
}

export async function writeTaxonomyRows({ insert }: RowWriter): Promise<void> {
  const own = { account_id: idOf.account, created_at: writtenAt };
  await insert("error_taxonomies", {
    ...own,
    id: idOf.taxonomy,
    name: awkward.trim(),
    description: null,
    last_revision: 1,
  });
  await insert("error_taxonomy_revisions", {
    ...own,
    id: idOf.taxonomyRevision,
    taxonomy_id: idOf.taxonomy,
    revision: 1,
    body: JSON.stringify(tree),
    metadata: JSON.stringify({ author: awkward }),
  });
  await insert("error_taxonomy_labels", {
    taxonomy_id: idOf.taxonomy,
    label: "production",
    revision_id: idOf.taxonomyRevision,
    position: 1,
  });
  await insert("evaluator_profiles", {
    public_id: idOf.profile,
    account_id: idOf.account,
    evaluator_family: "exact-match",
    name: "ours",
    last_revision: 1,
    archived_at: null,
    created_at: writtenAt,
  });
  await insert("evaluator_profile_revisions", {
    public_id: idOf.profile,
    revision: 1,
    config: JSON.stringify({ trim: true, ignore_case: true, strip_tags: false }),
    description: awkward,
    created_at: writtenAt,
  });
}

export async function writeUsageRows({ insert }: RowWriter): Promise<void> {
  const hour = hoursOf(writtenAt);
  const counted = { account_id: idOf.account, hour, key_id: idOf.key, operation: "predict" };
  const tokens = { prompt_tokens: 2 ** 40, completion_tokens: 5 };
  await insert("budgets", {
    account_id: idOf.account,
    api_key_id: idOf.key,
    limit_micros: 12_500_000,
    stops: 1,
    warned_month: 0,
  });
  await insert("usage_counts", {
    ...counted,
    ...tokens,
    outcome: "",
    requests: 3,
    cached_tokens: 0,
    example_tokens: 7,
  });
  await insert("usage_latencies", {
    account_id: idOf.account,
    hour,
    measure: "total",
    bucket: 147,
    count: 3,
  });
  await insert("usage_model_tokens", {
    ...counted,
    ...tokens,
    model: awkward,
    upstream_cached_tokens: largestNumber,
  });
}
