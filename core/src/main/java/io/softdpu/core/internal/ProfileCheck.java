package io.softdpu.core.internal;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.PciFunction;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Check of the limits in a function's profile against what the libraries of this program declare.
 *
 * <p>A service of this module to itself: machines and devices need the check, and whoever can make
 * it stands above them, since capabilities are those of devices. Any thread.
 */
public interface ProfileCheck {
    /**
     * Refuses a limit that its library does not declare; one of a library that this program does
     * not have is accepted.
     *
     * @throws DpuException INVALID_VALUE naming the limit and those that the library has
     */
    void check(PciFunction function);

    /**
     * Checks functions by the one that this module provides, if any of them has a profile.
     *
     * @throws DpuException as {@link #check}
     */
    static void checkAll(List<PciFunction> functions) {
        if (functions.stream().anyMatch(function -> !function.profile().isEmpty())) {
            functions.forEach(load()::check);
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
