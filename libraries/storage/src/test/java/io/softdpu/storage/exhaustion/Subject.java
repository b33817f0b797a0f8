package io.softdpu.storage.exhaustion;

/** Subject of the test: an operation that acquires descriptors, mappings or threads. */
interface Subject {
    /** For the report. */
    String name();

    /**
     * Acquires all resources, or none.
     *
     * @return gives it back
     */
    AutoCloseable acquire() throws Exception;

    /**
     * Whether two ends take part: the exhaustion of one may be reported to the other by a reply, or
     * by a timeout.
     */
    boolean hasOtherEnd();

    static Subject alone(String name, Acquisition acquisition) {
        return of(name, false, acquisition);
    }

    static Subject withOtherEnd(String name, Acquisition acquisition) {
        return of(name, true, acquisition);
    }

    private static Subject of(String name, boolean hasOtherEnd, Acquisition acquisition) {
        return new Subject() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public boolean hasOtherEnd() {
                return hasOtherEnd;
            }

            @Override
            public AutoCloseable acquire() throws Exception {
                return acquisition.acquire();
            }
        };
    }

    /** See {@link #acquire()}. */
    @FunctionalInterface
    interface Acquisition {
        AutoCloseable acquire() throws Exception;
    }
}
