package io.softdpu.core.internal.base;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Check of the limits in a function's profile against what the libraries of this program declare.
 *
 * <p>A service inside this module: machines and devices need the check, and its implementation is
 * in a package above them, which knows capabilities. Any thread.
 */
public interface ProfileCheck {
    /**
     * Refuses a limit that its library does not declare, or of a value that is too low for it; one
     * of a library that this program does not have is accepted.
     *
     * @param function its key, for the message
     * @param profile limits by their names
     * @throws DpuException INVALID_VALUE naming the limit and those that the library has, or the
     *     least value
     */
    void check(String function, Map<String, Long> profile);

    /**
     * Checks a profile by the service that this module provides, unless the profile is empty.
     *
     * @throws DpuException as {@link #check}
     */
    static void require(String function, Map<String, Long> profile) {
        if (!profile.isEmpty()) {
            load().check(function, profile);
        }
    }

    private static ProfileCheck load() {
        return ServiceLoader.load(ProfileCheck.class, ProfileCheck.class.getClassLoader())
                .findFirst()
                .orElseThrow(() ->
                        new DpuException(
                                Status.UNEXPECTED,
                                "service of core is missing: service="
                                        + ProfileCheck.class.getName()));
    }
}
