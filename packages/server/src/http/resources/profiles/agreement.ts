import type { AgreementResponse } from "@presage/contract";
import type { RevisionAgreement } from "../../../evaluation/profiles/measure-agreement.ts";

/** How far people agreed with a profile, as it goes out. */
export function toAgreementResponse(
  publicId: string,
  revisions: readonly RevisionAgreement[],
): AgreementResponse {
  return {
    public_id: publicId,
    revisions: revisions.map(({ shouldFail, shouldPass, agreementInterval, ...rest }) => ({
      ...rest,
      should_fail: shouldFail,
      should_pass: shouldPass,
      agreement_interval: agreementInterval,
    })),
  };
}
