package io.softdpu.perf.demo;

import java.util.List;

/** The processes of a demo, in the order in which they are started. */
enum DemoRole {
    /** Serves the volume. */
    TARGET("target"),
    /** Relays. */
    ZERO_COPY("zero-copy"),
    /** Does the work of the plan. */
    INITIATOR("initiator");

    private final String id;

    DemoRole(String id) {
        this.id = id;
    }

    /** Its command below {@code softdpu storage}, and its name in messages. */
    String id() {
        return id;
    }

    /** Its place in the order, from 0 on. */
    int index() {
        return List.of(values()).indexOf(this);
    }

    static DemoRole of(String id) {
        for (DemoRole role : values()) {
            if (role.id.equals(id)) {
                return role;
            }
        }
        throw new IllegalArgumentException("no such role: role=" + id);
    }
}
