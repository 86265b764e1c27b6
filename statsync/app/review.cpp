// The command `review`: a page on which conflicts are settled, until it writes or ends.

#include "core/failure.hpp"
#include "review/local_server.hpp"
#include "review/page.hpp"
#include "review/session.hpp"
#include "synchronisation.hpp"
#include "synchronise.hpp"

namespace statsync {
namespace {

using nlohmann::json;

std::string dumped(json const& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

class review_page
{
public:
    explicit review_page(synchronisation const& work)
        : work_(work), session_(work.providers(), work.rules())
    {
    }

    web_answer answer(web_request const& request)
    {
        try {
            return request.method == "GET" ? file(request.name) : answer_question(request);
        } catch (std::exception const& error) {
            return {dumped({{"error", printable(error.what())}}), "application/json", 409, false};
        }
    }

    int code() const
    {
        int const conflicts = session_.current().unsettled_count() > 0 ? exit_conflicts : exit_done;
        return code_ != exit_done ? code_ : work_.is_complete() ? conflicts : exit_failed;
    }

private:
    static web_answer file(std::string const& name)
    {
        if (name.empty()) {
            return {std::string(review_html), "text/html"};
        }
        if (name == "review.css") {
            return {std::string(review_css), "text/css"};
        }
        if (name == "review.js") {
            return {std::string(review_js), "text/javascript"};
        }
        return {"no", "text/plain", 404, false};
    }

    web_answer answer_question(web_request const& request)
    {
        if (request.name == "apply") {
            return apply();
        }
        if (request.name == "end") {
            say("nothing is written");
            return last({"Nothing is written. This page can be closed."});
        }
        json const question = json::parse(request.body);
        return {dumped(session_.answer(request.name, question))};
    }

    /// apply throws where nothing was written yet; the user can close the player and try again.
    web_answer apply()
    {
        std::vector<outcome> const outcomes = work_.write(session_.current());
        code_ = exit_code_of(outcomes);
        std::vector<std::string> lines;
        for (outcome const& one : outcomes) {
            lines.push_back(printable(line_of(one, "written")));
            say(lines.back());
        }
        lines.push_back("`statsync undo` takes this back. This page can be closed.");
        return last(lines);
    }

    static web_answer last(std::vector<std::string> const& lines)
    {
        return {dumped({{"lines", lines}}), "application/json", 200, true};
    }

    synchronisation const& work_;
    review_session session_;
    int code_ = exit_done;
};

} // namespace

int review(registry const& all, options const& parsed)
{
    synchronisation const work(all, parsed);
    review_page page(work);
    local_server server;
    say("Open this page in a browser of this machine; Ctrl-C ends without writing:");
    say(server.address());
    server.serve([&](web_request const& request) { return page.answer(request); });
    return page.code();
}

} // namespace statsync
