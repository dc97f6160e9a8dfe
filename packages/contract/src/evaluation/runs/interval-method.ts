import { z } from "zod";

/** How an interval was made. */
export const IntervalMethod = z.enum(["clustered", "independent"]).meta({
  id: "IntervalMethod",
  description:
    "How the intervals were made. `clustered`: results of one trajectory (the tag `trajectory_id`, within a dataset if there is one), otherwise of one sample (`dataset_sample_id`), depend on each other and are one cluster; a result that names neither is a cluster by itself. Wilson's interval, with the cluster-robust standard error CR1 and Student's t of one degree of freedom less than clusters of one size would weigh as much. Reports of runs leave out one trajectory at a time instead, which the sums that a summary is made of do not allow. `independent`: no result names a trajectory or a sample, so all are taken as independent.",
});
