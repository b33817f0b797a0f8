package io.softdpu.rdma.contract;

import java.util.function.BooleanSupplier;

/** A limit for every wait of the contract. */
final class Deadline {
    /** Far beyond what anything here takes, also on a machine that is busy with other things. */
    static final long NANOS = 20_000_000_000L;

    private Deadline() {}

    /** Calls the step until the condition holds. */
    static void await(String what, BooleanSupplier condition, Runnable step) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > NANOS) {
                throw new AssertionError("did not happen in time: " + what);
            }
            step.run();
        }
    }
}
