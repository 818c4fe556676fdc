# frozen_string_literal: true

class ApplicationController < ActionController::Base
  helper_method :page

  private

  # The number of the page that was asked for: 1, 2 …
  def page
    [params[:page].to_i, 1].max
  end
end
