package io.softdpu.storage.exhaustion;

/** Something that acquires descriptors, mappings or threads. */
interface Subject {
    /** For the report. */
    String name();

    /**
     * Acquires all that it needs, or nothing.
     *
     * @return gives it back
     */
    AutoCloseable acquire() throws Exception;

    /**
     * Whether two take part: where the other end is out of something, this one may learn of it by
     * an answer that says so, or by silence.
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
