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

    static Subject of(String name, Acquisition acquisition) {
        return new Subject() {
            @Override
            public String name() {
                return name;
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
