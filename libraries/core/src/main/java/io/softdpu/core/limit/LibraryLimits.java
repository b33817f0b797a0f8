package io.softdpu.core.limit;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.internal.base.ProfileCheck;
import io.softdpu.linux.text.Text;
import java.util.Map;

/** Comparison of profiles with the limits that {@link Capabilities} knows of each library. */
public final class LibraryLimits implements ProfileCheck {
    /** For ServiceLoader. */
    public LibraryLimits() {}

    @Override
    public void check(String function, Map<String, Long> profile) {
        profile.forEach((id, most) -> {
            if (!Capabilities.acceptsLimit(id)) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "library has no such limit: limit=%s, function=%s, library=%s,"
                                        + " expected=%s",
                                id,
                                function,
                                DeviceLimit.libraryOf(id),
                                Capabilities.acceptedInsteadOf(id)));
            }
            long least = Capabilities.leastValueOf(id);
            if (most < least) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        Text.format(
                                "limit is too low: limit=%s, function=%s, value=%d, expected=%d or"
                                        + " more",
                                id, function, most, least));
            }
        });
    }
}
